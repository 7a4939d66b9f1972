// Comparisons have no derivative where they give bool tensors, and one of zeros where they write
// them over numbers. Of maximum and minimum the larger and the smaller has it.

#include "switchboard/ops/arithmetic/comparison.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

// Of one of two operands: nothing where it `lost`, half where they are equal.
Tensor winner_gradient(const Tensor& grad, const Tensor& equal, const Tensor& lost) {
  return masked_fill(where(equal, div_Scalar(grad, 2), grad), lost, 0);
}

template <class Tag>
void derive_comparison_with_number(Library& m, const Op<Tag>& op) {
  not_differentiable(m, op);
  derive(m, Op<form_of<InplaceForm, Tag>>(), SB_GRAD(self, (grad), zeros_like(grad)));
}
template <class Tag>
void derive_comparison(Library& m, const Op<Tag>& op) {
  not_differentiable(m, op);
  derive(m, Op<form_of<InplaceForm, Tag>>(), SB_GRAD(self, (grad), zeros_like(grad)),
         SB_GRAD(other, (grad), zeros_like(grad)));
}
// As in PyTorch, what comes to the result of a logical operator in place goes on as it is.
template <class Tag>
void leave_logical(Library& m, const Op<Tag>& op) {
  not_differentiable(m, op);
  not_differentiable(m, Op<form_of<InplaceForm, Tag>>());
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_comparison(m, eq);
  derive_comparison(m, ne);
  derive_comparison(m, lt);
  derive_comparison(m, le);
  derive_comparison(m, gt);
  derive_comparison(m, ge);
  derive_comparison_with_number(m, eq_Scalar);
  derive_comparison_with_number(m, ne_Scalar);
  derive_comparison_with_number(m, lt_Scalar);
  derive_comparison_with_number(m, le_Scalar);
  derive_comparison_with_number(m, gt_Scalar);
  derive_comparison_with_number(m, ge_Scalar);

  // max.other and min.other are made of these.
  derive(
      m, maximum,
      SB_GRAD(self, (grad, self, other), winner_gradient(grad, eq(self, other), lt(self, other))),
      SB_GRAD(other, (grad, self, other), winner_gradient(grad, eq(self, other), gt(self, other))));
  derive(
      m, minimum,
      SB_GRAD(self, (grad, self, other), winner_gradient(grad, eq(self, other), gt(self, other))),
      SB_GRAD(other, (grad, self, other), winner_gradient(grad, eq(self, other), lt(self, other))));

  leave_logical(m, logical_and);
  leave_logical(m, logical_or);
  leave_logical(m, logical_xor);
  leave_logical(m, logical_not);
}

}  // namespace
}  // namespace sb
