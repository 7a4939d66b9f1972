#include "switchboard/ops/linalg/products.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using internal::conjugate;
using internal::scaled;

// The gradient of the vector whose elements stand for the rows of `grad`. addr promotes its
// arguments, mv does not.
Tensor times_vector(const Tensor& grad, const Tensor& vec, const Scalar& alpha) {
  return scaled(mv(grad, conjugate(to_dtype(vec, grad.dtype()))), alpha);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, addr, SB_GRAD(self, (grad, beta), scaled(grad, beta)),
         SB_GRAD(vec1, (grad, vec2, alpha), times_vector(grad, vec2, alpha)),
         SB_GRAD(vec2, (grad, vec1, alpha), times_vector(t(grad), vec1, alpha)));
  derive(m, vdot, SB_GRAD(self, (grad, other), mul(conjugate(grad), other)),
         SB_GRAD(other, (grad, self), mul(grad, self)));
  derive(m, linalg_cross,
         SB_GRAD(self, (grad, other, dim), linalg_cross(conjugate(other), grad, dim)),
         SB_GRAD(other, (grad, self, dim), linalg_cross(grad, conjugate(self), dim)));
  // In each, grad takes the place of an operand: it lacks what was summed, and what that operand
  // lacks is summed.
  derive(
      m, _trilinear,
      SB_GRAD(i1, (grad, i2, i3, expand1, expand2, expand3, sumdim),
              _trilinear(grad, conjugate(i2), conjugate(i3), sumdim, expand2, expand3, expand1)),
      SB_GRAD(i2, (grad, i1, i3, expand1, expand2, expand3, sumdim),
              _trilinear(conjugate(i1), grad, conjugate(i3), expand1, sumdim, expand3, expand2)),
      SB_GRAD(i3, (grad, i1, i2, expand1, expand2, expand3, sumdim),
              _trilinear(conjugate(i1), conjugate(i2), grad, expand1, expand2, sumdim, expand3)));
}

}  // namespace sb
