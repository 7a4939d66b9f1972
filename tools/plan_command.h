// `sb plan`: what a program would need on a device that is not here.

#ifndef SWITCHBOARD_TOOLS_PLAN_COMMAND_H_
#define SWITCHBOARD_TOOLS_PLAN_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& plan_spec();

// Runs the program below a Planner (plan/planner.h) and prints the plan to `out`. Returns the exit
// status, which is 1 if --check found another peak. Throws sb::Error for bad input, which is status
// 2: an operator that needs data is named with its node.
int plan_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PLAN_COMMAND_H_
