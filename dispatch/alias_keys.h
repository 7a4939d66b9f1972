// The runtime keys that an alias key stands for, and the backends behind an autograd key.

#ifndef SWITCHBOARD_DISPATCH_ALIAS_KEYS_H_
#define SWITCHBOARD_DISPATCH_ALIAS_KEYS_H_

#include "switchboard/core/dispatch_key_set.h"

namespace sb {

// Returns whether the alias key stands for the runtime key.
bool alias_includes(DispatchKey alias, DispatchKey key);

// The runtime keys whose kernels are "backend kernels" of an autograd key: X for AutogradX; the
// backends without an autograd key of their own for AutogradOther; NestedTensor for
// AutogradNestedTensor. Empty for every other key.
DispatchKeySet backend_keys_behind(DispatchKey autograd_key);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_ALIAS_KEYS_H_
