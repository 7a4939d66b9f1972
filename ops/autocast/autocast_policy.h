// What automatic mixed precision casts, in the regions of a program that ask for it.

#ifndef SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_POLICY_H_
#define SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_POLICY_H_

#include <cstdint>
#include <string_view>

#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

enum class AutocastPolicy : uint8_t {
  None,            // runs on what it is given
  LowerPrecision,  // in the region's dtype: products, convolutions, attention
  Float32,         // in float32: losses, factorizations, what loses too much otherwise
  Promote,         // in the widest dtype among its arguments
};

// That of an operator, "aten::linear", on the CPU, where programs are exported. As
// `torch.autocast("cpu")` of PyTorch 2.14.
AutocastPolicy autocast_policy(std::string_view op);
// Whether it has one on some device.
bool has_autocast_policy_somewhere(std::string_view op);

// Casts the floating-point tensors of a call's arguments as the policy says; float64 stays.
void cast_arguments(AutocastPolicy policy, DType dtype, Stack* arguments);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_POLICY_H_
