// What dispatch cases are made of: key sets, tensors of which only the keys matter, and operator
// types.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_DISPATCH_VALUES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_DISPATCH_VALUES_H_

#include <string_view>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/tests/conformance/json_values.h"

namespace sb::conformance {

// The key of that name, runtime or alias. Throws RuntimeError, as PyTorch does.
DispatchKey read_key(const Json& json);
// The set of a list of keys.
DispatchKeySet read_keys(const Json& list);

// An argument of a call.
IValue read_dispatch_argument(const Json& json);

// The runtime keys that tables list.
absl::Span<const std::string_view> table_keys();

// The value of a key set expression: ["union", E, E].
DispatchKeySet evaluate_key_set(const Json& expression);
// The members of a set that cases list, by name, sorted.
Json listed_members(DispatchKeySet set);

// A kernel of a C++ type that is written "Tensor,int->Tensor". Calling it throws.
KernelFunction make_typed_kernel(std::string_view type);

// What a kernel that has nothing to say returns for that type.
IValue empty_return(const Type& type);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_DISPATCH_VALUES_H_
