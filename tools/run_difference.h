// Where two recordings part, as `sb diff` and `sb replay` say it.

#ifndef SWITCHBOARD_TOOLS_RUN_DIFFERENCE_H_
#define SWITCHBOARD_TOOLS_RUN_DIFFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "switchboard/io/recording/diff.h"
#include "switchboard/tools/findings.h"

namespace sb::tools {

// What is wrong with the files, of each in which something is.
std::vector<std::string> faults_of(const std::vector<const io::RecordedRun*>& runs);

// Adds {same, cause, detail, first, second}: `first` and `second` are the call in each run, its
// number and operator, or null. As text, `same_text` or the difference.
void add_difference(const io::RecordedRun& first, const io::RecordedRun& second,
                    const std::optional<io::RunDifference>& difference,
                    const std::string& same_text, Findings* findings);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_RUN_DIFFERENCE_H_
