// What autograd does with an operator that has no derivative.

#ifndef SWITCHBOARD_AUTOGRAD_FALLBACK_H_
#define SWITCHBOARD_AUTOGRAD_FALLBACK_H_

#include <optional>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// The key of the backend's kernel that the operator is derived through: where the operator says
// that it is composed of operators that have derivatives (Tag::derived_through), and that kernel is
// indeed the one at CompositeExplicitAutograd. Without a key the operator is opaque. `keys` are
// those of the call; keys between (modes, fake tensors) do not matter: their kernels see the parts
// too.
std::optional<DispatchKey> derived_through_key(const OperatorHandle& op, DispatchKeySet keys);

// How calls go on from a kernel that records, and from the fallback at ADInplaceOrView: below both
// keys.
void explain_recording(CallPath& path, const PathCall& call);

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_FALLBACK_H_
