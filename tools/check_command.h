// `sb check`: what a program needs and is not here.

#ifndef SWITCHBOARD_TOOLS_CHECK_COMMAND_H_
#define SWITCHBOARD_TOOLS_CHECK_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& check_spec();
// Gives the exit status. Throws what find_model_files and read_model_archive throw.
int check_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_CHECK_COMMAND_H_
