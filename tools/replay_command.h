// `sb replay`: a recorded run again, without the program.

#ifndef SWITCHBOARD_TOOLS_REPLAY_COMMAND_H_
#define SWITCHBOARD_TOOLS_REPLAY_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& replay_spec();

// Returns the exit status. Throws sb::Error for bad input, which is status 2.
int replay_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_REPLAY_COMMAND_H_
