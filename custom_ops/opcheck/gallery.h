// Operators that are wrong, each in one way: what opcheck is there for.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_GALLERY_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_GALLERY_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/custom_ops/opcheck/opcheck.h"

namespace sb {

struct WrongOperator {
  std::string what;  // is wrong
  std::string name;  // "wrong::fake_sizes"
  // Defines the operator, and what goes with it, in a library of the namespace.
  std::function<void(Library&)> define;
  std::function<Arguments()> arguments;
  // True if these arguments show it; otherwise opcheck passes and a variation of them does.
  bool shows;
  // Of opcheck, or of the variation; lines of sources are left out, "(gallery.cc)".
  std::string message;
};

const std::vector<WrongOperator>& wrong_operators();

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_GALLERY_H_
