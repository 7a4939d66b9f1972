// `sb guards`: which batch sizes a program accepts.

#ifndef SWITCHBOARD_TOOLS_GUARDS_COMMAND_H_
#define SWITCHBOARD_TOOLS_GUARDS_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& guards_spec();

// Runs the program once on fake tensors, with a symbol for the first dimension of each input, and
// prints what the run rests on. With --check N,... it runs on this machine's CPU at each of those
// batch sizes, too, and returns status 1 where the guards accept what the run refuses, or the other
// way round. Throws sb::Error for bad input, which is status 2.
int guards_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_GUARDS_COMMAND_H_
