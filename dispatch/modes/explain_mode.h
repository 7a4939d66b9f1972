// What the explanation of a call says of modes.

#ifndef SWITCHBOARD_DISPATCH_MODES_EXPLAIN_MODE_H_
#define SWITCHBOARD_DISPATCH_MODES_EXPLAIN_MODE_H_

#include <typeindex>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/modes/mode.h"

namespace sb {

// As ExplainCall, with the mode, which is popped.
using ExplainInMode = void (*)(CallPath& path, DispatchMode& mode, const PathCall& call);

// Says how calls go on from modes of exactly that type. A constant of the program, made as it
// starts; calls never read it. Of other modes, one that only watches passes calls on; what any
// other does is its own affair, and it may pass them on.
class ExplainMode {
 public:
  ExplainMode(std::type_index mode, ExplainInMode explain);
  ExplainMode(const ExplainMode&) = delete;
  ExplainMode& operator=(const ExplainMode&) = delete;
};

namespace internal {
// The call comes to a mode that is popped: to the operator's rule for it, if `rules` count, or to
// itself.
void explain_in_mode(CallPath& path, DispatchMode& mode, const PathCall& call, bool rules = true);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_EXPLAIN_MODE_H_
