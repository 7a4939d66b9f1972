// What autograd does with an operator that has no derivative.

#ifndef SWITCHBOARD_AUTOGRAD_FALLBACK_H_
#define SWITCHBOARD_AUTOGRAD_FALLBACK_H_

#include <cstdint>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// What a call does for an operator that has no derivative, where an argument requires a gradient.
// Whatever the mode, an operator with Tag::derived_through is derived through what it is composed
// of. As `torch._C._set_autograd_fallback_mode`, whose default is Nothing, and whose Error throws
// in backward too.
enum class AutogradFallbackMode : uint8_t {
  Nothing,  // the call goes on below the autograd keys; what its kernel calls is recorded
  Warn,     // the same, and backward through its results warns, and takes them for constants
  Error,    // the default: backward through its results throws
};
AutogradFallbackMode autograd_fallback_mode();
// For the whole process. Thread-safe.
void set_autograd_fallback_mode(AutogradFallbackMode mode);

namespace internal {

// The keys at which the operator goes on where it is derived through its kernel: that of the
// backend, where the operator says that it is composed of operators that have derivatives
// (Tag::derived_through) and the backend's kernel is indeed the one at CompositeExplicitAutograd,
// and those that resolve what is lazily conjugated or negated before it. Without keys the operator
// is opaque. `keys` are those of the call; other keys between (modes, fake tensors) do not matter:
// their kernels see the parts too.
DispatchKeySet derived_through_keys(const OperatorHandle& op, DispatchKeySet keys);

// How calls go on from a kernel that records, and from the fallback at ADInplaceOrView: below both
// keys.
void explain_recording(CallPath& path, const PathCall& call);
// How they go on from an operator's own kernel at one of the two, of which nobody has said more: it
// may do what it likes.
void explain_own_kernel(CallPath& path, const PathCall& call);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_FALLBACK_H_
