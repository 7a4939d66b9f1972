// The call that made a fake tensor: kept where FakeTensorOptions::record_creation asks for it.

#ifndef SWITCHBOARD_FAKE_CREATION_H_
#define SWITCHBOARD_FAKE_CREATION_H_

#include <string>
#include <vector>

#include "switchboard/core/source_location.h"

namespace sb {

// As the `_debug_trace` of a fake tensor.
struct Creation {
  std::string call;          // "aten::add.Tensor(float32[2] on cuda:0, float32[2] on cuda:0)"
  std::string reason;        // of the innermost SymReason around the call; empty without one
  SourceLocation where;      // of that
  std::vector<void*> stack;  // return addresses, innermost first

  // The call, its reason and line, and the functions on the stack, a line each.
  std::string to_string() const;

  // Describes the call that is under way on this thread.
  static Creation of_call(std::string call);
};

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_CREATION_H_
