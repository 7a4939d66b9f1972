// What a run has found.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_REPORT_H_
#define SWITCHBOARD_TESTS_COMPOSITION_REPORT_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace sb::composition {

struct Report {
  uint64_t passed = 0, failed = 0, refused = 0;
  uint64_t programs = 0, undetermined = 0, not_applied = 0;
  std::map<std::string, std::array<uint64_t, 3>> stacks;  // passed, failed, refused
  struct Refusal {
    uint64_t count = 0;
    std::string message;  // of the first one
  };
  std::map<std::pair<std::string, std::string>, Refusal> refusals;  // by operator and layer
  std::map<std::string, uint64_t> failures;  // by kind, and how often it was seen

  // The table of refusals, the failures by stack, and the last line.
  std::string to_string() const;
};

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_REPORT_H_
