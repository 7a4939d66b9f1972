#include "switchboard/ops/elementwise/regular.h"

#include "switchboard/ops/cpu/cast.h"

namespace sb::internal {

void check_numbers(const ElementwiseOp& op, const RegularCall& call) {
  for (const Tensor* t : call.tensors) {
    SB_CHECK(t->defined(), op.name, ": expected a tensor, got an undefined one");
  }
  DType dtype = result_type(call.tensors);
  if ((op.flags & kIntToFloat) && is_integral(dtype, true)) dtype = default_dtype();
  for (size_t i = 0; i < call.numbers.count; ++i) {
    check_scalar_fits(call.numbers.values[i], compute_dtype(dtype));
  }
}

}  // namespace sb::internal
