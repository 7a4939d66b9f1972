// What a program needs and this process does not have, all of it at once.

#ifndef SWITCHBOARD_IO_EXPORTED_MISSING_H_
#define SWITCHBOARD_IO_EXPORTED_MISSING_H_

#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/io/exported/program.h"

namespace sb::io {

struct Missing {
  std::string kind;    // "operator", "overload", "higher-order operator", "input", ...
  std::string name;    // "torchvision::deform_conv2d"
  int64_t count = 0;   // how often it occurs, in nested graphs too
  std::string place;   // where first
  std::string advice;  // what to do about it
};

// In the order in which they occur; nothing if the program can be bound.
std::vector<Missing> find_missing(const Program& program,
                                  const Dispatcher& dispatcher = default_dispatcher());

// Throws NotImplementedError that lists all of it, if there is any.
void check_nothing_missing(const Program& program,
                           const Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_MISSING_H_
