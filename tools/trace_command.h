// `sb trace`: the kernels of a program, as text or as a file for Perfetto.

#ifndef SWITCHBOARD_TOOLS_TRACE_COMMAND_H_
#define SWITCHBOARD_TOOLS_TRACE_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& trace_spec();

// Runs the program on each device in turn and shows every kernel. Returns the exit status: 1 if the
// program fails on a device, or a value is not as recorded. Throws sb::Error for bad input, which
// is status 2.
int trace_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_TRACE_COMMAND_H_
