#include "switchboard/docs/shown_programs.h"

#include <cstdio>
#include <stdexcept>

namespace sb::docs {

const std::vector<std::string>& pages_with_programs() {
  static const std::vector<std::string> pages = {
      "README.md",           "docs/adding-an-op.md", "docs/custom-ops.md",   "docs/dispatcher.md",
      "docs/distributed.md", "docs/fake.md",         "docs/higher-order.md", "docs/new-device.md",
      "docs/see-it.md",      "docs/vmap.md"};
  return pages;
}

std::vector<std::string> sources_of(const std::string& page, const Section& section) {
  const std::string folder = page.substr(0, page.rfind('/') + 1);
  std::vector<std::string> sources;
  for (const std::string& link : section.links)
    if (link.starts_with("examples/") && link.ends_with(".cc")) sources.push_back(folder + link);
  return sources;
}

std::string output_of(const std::string& source) {
  const std::string program = source.substr(0, source.rfind('.'));
  FILE* const pipe = ::popen((program + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error(program + ": cannot be run");
  std::string output;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  if (::pclose(pipe) != 0) throw std::runtime_error(program + " fails:\n" + output);
  return output;
}

}  // namespace sb::docs
