// Derivatives of what is done with the factors of LU.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/linalg/derivatives/matrix_gradients.h"
#include "switchboard/ops/linalg/lu.h"
#include "switchboard/ops/views/cat.h"

namespace sb {
namespace {

using internal::identity_like;

// A = P L U, so dA = P (dL U + L dU).
Tensor factors_gradient(const Tensor& of_a, const Tensor& lu, const Tensor& pivots) {
  const Tensor p = std::get<0>(lu_unpack(lu, pivots, /*unpack_data=*/false, true));
  const Tensor turned = matmul(mH(p), of_a);
  const Tensor lower = add(tril(lu, -1), identity_like(lu));
  return add(tril(matmul(turned, mH(triu(lu))), -1), triu(matmul(mH(lower), turned)));
}

// M X = B, or X M = B, of M = A or M = A^H: dX = M^-1 (dB - dM X), or (dB - X dM) M^-1.
std::array<Tensor, 2> lu_solve_gradients(const Tensor& grad, const Tensor& lu, const Tensor& pivots,
                                         const InputMetadata& lu_meta, const InputMetadata& b_meta,
                                         bool left, bool adjoint, const Tensor& x,
                                         const std::array<bool, 2>& needs) {
  const Tensor of_b = linalg_lu_solve(lu, pivots, grad, left, !adjoint);
  std::array<Tensor, 2> gradients;
  if (needs[0]) {
    const Tensor of_m = neg(left ? matmul(of_b, mH(x)) : matmul(mH(x), of_b));
    const Tensor of_a = sum_to_size(adjoint ? mH(of_m) : of_m, lu_meta.sizes);
    gradients[0] = factors_gradient(of_a, lu, pivots);
  }
  if (needs[1]) gradients[1] = sum_to_size(of_b, b_meta.sizes);
  return gradients;
}

// Both factors lie in LU, one below the other's diagonal.
Tensor unpack_gradient(const Tensor& of_lower, const Tensor& of_upper, const InputMetadata& lu) {
  const SymInt rows = lu.sizes[lu.sizes.size() - 2], cols = lu.sizes[lu.sizes.size() - 1];
  Tensor result;
  const auto filled = [&](const Tensor& part, const SymInt& missing, int64_t dim) {
    SymDimVector sizes(part.sym_sizes().begin(), part.sym_sizes().end());
    sizes[sizes.size() + static_cast<size_t>(dim)] = missing;
    const Tensor parts[] = {part, new_zeros(part, SymIntArrayRef(sizes))};
    return cat(parts, dim);
  };
  if (of_lower.defined()) {
    const Tensor part = tril(of_lower, -1);
    result = cols > part.sym_size(-1) ? filled(part, cols - part.sym_size(-1), -1) : part;
  }
  if (of_upper.defined()) {
    Tensor part = triu(of_upper);
    if (rows > part.sym_size(-2)) part = filled(part, rows - part.sym_size(-2), -2);
    result = result.defined() ? add(result, part) : part;
  }
  return result;
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(
      m, linalg_lu_solve,
      SB_GRAD((LU, B), (grad, LU, pivots, LU_meta, B_meta, left, adjoint, result, needs),
              lu_solve_gradients(grad, LU, pivots, LU_meta, B_meta, left, adjoint, result, needs)));
  derive(
      m, lu_unpack,
      SB_GRAD(LU_data, (grad1, grad2, LU_data_meta), unpack_gradient(grad1, grad2, LU_data_meta)));
}

}  // namespace sb
