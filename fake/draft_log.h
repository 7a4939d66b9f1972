// What a draft run (draft_run.h) finds out about a program.

#ifndef SWITCHBOARD_FAKE_DRAFT_LOG_H_
#define SWITCHBOARD_FAKE_DRAFT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/fake/fake_profile.h"

namespace sb {

// What keeps a program from a run that is right for other data and sizes. As
// `torch.export._draft_export.FailureType`.
enum class DraftFault : uint8_t {
  UnstatedCheck,  // an answer that depends on data, of which the program states nothing
  MissingRule,    // an operator without a fake rule for these arguments
  WrongRule,      // one whose fake results are not as the real ones
  SettledSize,    // a size of an input became a number
};
std::string_view to_string(DraftFault fault);

struct DraftFinding {
  DraftFault fault;
  std::string text;   // "aten::view: u0 == 4, where u0 was made by aten::item"
  std::string mend;   // the line to write: "sb::check(u0 == 4);"
  std::string where;  // who asked, or the call; see SymOrigin
  size_t times = 1;   // how often it came up
};

// Operators whose results were taken from the example, in the order of the calls. For one thread at
// a time.
class DraftLog : public IntrusiveTarget {
 public:
  // One that is there already, but for its number, is counted.
  void add(DraftFinding finding);
  void add_profile(const std::string& op, const OpProfile& profile);

  const std::vector<DraftFinding>& findings() const { return findings_; }
  // What the example showed of operators whose rules are missing or wrong.
  const std::map<std::string, std::vector<OpProfile>>& profiles() const { return profiles_; }

 private:
  std::vector<DraftFinding> findings_;
  std::map<std::string, std::vector<OpProfile>> profiles_;
};

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_DRAFT_LOG_H_
