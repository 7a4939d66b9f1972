// In-place operators that have a derivative of their own.

#ifndef SWITCHBOARD_AUTOGRAD_INPLACE_DERIVATIVES_H_
#define SWITCHBOARD_AUTOGRAD_INPLACE_DERIVATIVES_H_

#include <string>
#include <string_view>

namespace sb::internal {

// Says that the in-place operator ("aten::elu_") is derived by another formula than its functional
// form, whose gradients are not the same numbers everywhere: a layer that calls the form instead
// would change them. Thread-safe.
void note_own_derivative(std::string_view op);
bool has_own_derivative(const std::string& op);

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_INPLACE_DERIVATIVES_H_
