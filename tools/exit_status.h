// What `sb` returns to the shell.

#ifndef SWITCHBOARD_TOOLS_EXIT_STATUS_H_
#define SWITCHBOARD_TOOLS_EXIT_STATUS_H_

namespace sb::tools {

enum ExitStatus : int {
  kHolds = 0,     // everything that was asked for holds
  kFails = 1,     // it was tried, and something does not hold
  kBadInput = 2,  // it could not be tried: a wrong command line, file, program or name
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_EXIT_STATUS_H_
