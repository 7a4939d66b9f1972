// Derivatives of matrix products. matmul and linear are made of these.

#include "switchboard/ops/products/matmul.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using internal::conjugate;
using internal::scaled;

// The conjugate transpose, of the last two dimensions.
Tensor adjoint(const Tensor& t) { return conjugate(transpose(t, -2, -1)); }

// Of a matrix in its product with a vector.
Tensor outer_product(const Tensor& grad, const Tensor& vec) {
  return mul(unsqueeze(grad, 1), conjugate(vec));
}

// grad, as that of each matrix of a batch whose sum it is the gradient of.
Tensor of_each(const Tensor& grad, const SymInt& count) {
  const SymInt sizes[] = {count, grad.sym_size(0), grad.sym_size(1)};
  return expand(grad, SymIntArrayRef(sizes, 3));
}

constexpr auto kOfSelf = SB_GRAD(self, (grad, beta), scaled(grad, beta));
constexpr auto kOfFirstBatches =
    SB_GRAD(batch1, (grad, batch2, alpha),
            scaled(bmm(of_each(grad, batch2.sym_size(0)), adjoint(batch2)), alpha));
constexpr auto kOfSecondBatches =
    SB_GRAD(batch2, (grad, batch1, alpha),
            scaled(bmm(adjoint(batch1), of_each(grad, batch1.sym_size(0))), alpha));

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, mm, SB_GRAD(self, (grad, mat2), mm(grad, adjoint(mat2))),
         SB_GRAD(mat2, (grad, self), mm(adjoint(self), grad)));
  derive(m, bmm, SB_GRAD(self, (grad, mat2), bmm(grad, adjoint(mat2))),
         SB_GRAD(mat2, (grad, self), bmm(adjoint(self), grad)));
  derive(m, mv, SB_GRAD(self, (grad, vec), outer_product(grad, vec)),
         SB_GRAD(vec, (grad, self), mv(adjoint(self), grad)));
  derive(m, dot, SB_GRAD(self, (grad, tensor), mul(grad, conjugate(tensor))),
         SB_GRAD(tensor, (grad, self), mul(grad, conjugate(self))));

  derive(m, addmm, kOfSelf,
         SB_GRAD(mat1, (grad, mat2, alpha), scaled(mm(grad, adjoint(mat2)), alpha)),
         SB_GRAD(mat2, (grad, mat1, alpha), scaled(mm(adjoint(mat1), grad), alpha)));
  derive(m, addmv, kOfSelf,
         SB_GRAD(mat, (grad, vec, alpha), scaled(outer_product(grad, vec), alpha)),
         SB_GRAD(vec, (grad, mat, alpha), scaled(mv(adjoint(mat), grad), alpha)));
  derive(m, baddbmm, kOfSelf,
         SB_GRAD(batch1, (grad, batch2, alpha), scaled(bmm(grad, adjoint(batch2)), alpha)),
         SB_GRAD(batch2, (grad, batch1, alpha), scaled(bmm(adjoint(batch1), grad), alpha)));
  derive(m, addbmm, kOfSelf, kOfFirstBatches, kOfSecondBatches);
  derive(m, addbmm_, kOfSelf, kOfFirstBatches, kOfSecondBatches);
}

}  // namespace
}  // namespace sb
