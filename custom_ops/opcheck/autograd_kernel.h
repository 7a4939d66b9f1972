// What stands for an operator's gradient.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_AUTOGRAD_KERNEL_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_AUTOGRAD_KERNEL_H_

#include <cstdint>

#include "switchboard/custom_ops/opcheck/checked_call.h"

namespace sb::internal {

// What the call comes to at its autograd key.
enum class AutogradKernel : uint8_t {
  None,               // nothing but an error in backward
  Own,                // a kernel of the operator
  Composite,          // the operators that it is composed of
  NotDifferentiable,  // a fallthrough: the operator says that it has no gradient
};
AutogradKernel autograd_kernel(const CheckedCall& call);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_AUTOGRAD_KERNEL_H_
