// `sb check-ranks`: whether the ranks of a program call the same collectives.

#ifndef SWITCHBOARD_TOOLS_CHECK_RANKS_COMMAND_H_
#define SWITCHBOARD_TOOLS_CHECK_RANKS_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& check_ranks_spec();

// Runs every rank on fake tensors and compares their calls (distributed/check/check_ranks.h).
// Returns status 1, after it printed where, if ranks part or one fails. Throws sb::Error for bad
// input, which is status 2.
int check_ranks_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_CHECK_RANKS_COMMAND_H_
