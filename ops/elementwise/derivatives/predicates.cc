// The derivatives of predicates.h and bitwise.h: none, but that of nan_to_num.

#include "switchboard/ops/elementwise/predicates.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/select.h"

namespace sb {
namespace {

// With its in-place form, for operators of integers.
template <class Tag>
void without_gradient(Library& m, const Op<Tag>& op) {
  not_differentiable(m, op);
  if constexpr (HasForm<InplaceForm, Tag>) not_differentiable(m, Op<form_of<InplaceForm, Tag>>());
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, nan_to_num, SB_GRAD(self, (grad, self), where_ScalarOther(isfinite(self), grad, 0)));

  not_differentiable(m, isnan);
  not_differentiable(m, isinf);
  not_differentiable(m, isfinite);
  not_differentiable(m, isposinf);
  not_differentiable(m, isneginf);
  not_differentiable(m, isreal);

  without_gradient(m, bitwise_and);
  without_gradient(m, bitwise_and_Scalar);
  without_gradient(m, bitwise_and_Scalar_Tensor);
  without_gradient(m, bitwise_or);
  without_gradient(m, bitwise_or_Scalar);
  without_gradient(m, bitwise_or_Scalar_Tensor);
  without_gradient(m, bitwise_xor);
  without_gradient(m, bitwise_xor_Scalar);
  without_gradient(m, bitwise_xor_Scalar_Tensor);
  without_gradient(m, bitwise_not);
  without_gradient(m, bitwise_left_shift);
  without_gradient(m, bitwise_left_shift_Tensor_Scalar);
  without_gradient(m, bitwise_left_shift_Scalar_Tensor);
  without_gradient(m, bitwise_right_shift);
  without_gradient(m, bitwise_right_shift_Tensor_Scalar);
  without_gradient(m, bitwise_right_shift_Scalar_Tensor);
  without_gradient(m, gcd);
  without_gradient(m, lcm);
}

}  // namespace
}  // namespace sb
