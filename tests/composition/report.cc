#include "switchboard/tests/composition/report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"

namespace sb::composition {

std::string Report::to_string() const {
  std::string text;
  if (failed > 0) {
    text += "\nfailed, by layers (from the inside out):\n";
    for (const auto& [stack, counts] : stacks)
      if (counts[1] > 0)
        text += absl::StrFormat("%8d of %8d  %s\n", counts[1], counts[0] + counts[1] + counts[2],
                                stack);
  }
  if (refused > 0) {
    std::vector<std::pair<uint64_t, std::string>> rows;
    for (const auto& [what, refusal] : refusals)
      rows.emplace_back(refusal.count,
                        what.first + " under " + what.second + ": " + refusal.message);
    std::sort(rows.begin(), rows.end(), std::greater<>());
    text += "\nrefused, by operator and layer:\n";
    for (const auto& [count, what] : rows) text += absl::StrFormat("%8d  %s\n", count, what);
  }
  text += absl::StrFormat(
      "\n%d programs, %d of them undetermined; %d times layers did not apply to a program\n",
      programs, undetermined, not_applied);
  text += absl::StrFormat("%d passed, %d failed, %d refused\n", passed, failed, refused);
  return text;
}

}  // namespace sb::composition
