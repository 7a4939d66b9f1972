#include "switchboard/tests/gradients/sample_lines.h"

#include "switchboard/tests/gradients/sample.h"

namespace sb::test {

const std::vector<std::string>& sample_lines() {
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> lines;
    for (auto* part : {elementwise_samples, linalg_samples, networks_samples, shapes_samples})
      for (std::string& line : part()) lines.push_back(std::move(line));
    return lines;
  }();
  return lines;
}

}  // namespace sb::test
