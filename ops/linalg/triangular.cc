#include "switchboard/ops/linalg/triangular.h"

#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/solve_triangle.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// With left alone: X A = B is A^T X^T = B^T.
template <bool with_data>
Tensor solve_left_triangle(const Tensor& a, const Tensor& b, bool upper, bool unitriangular) {
  const SymDimVector batch = broadcast_batches(a, b);
  const auto broadcast = [&](const Tensor& t) {
    SymDimVector sizes = batch;
    sizes.insert(sizes.end(), {t.sym_size(-2), t.sym_size(-1)});
    return expand(t, SymIntArrayRef(sizes));
  };
  const Tensor wide = broadcast(b);
  const Tensor result = empty_matrices(wide, b.sym_size(-2), b.sym_size(-1));
  if (!with_data || result.numel() == 0) return result;
  copy_elements(result, wide);
  const Tensor wide_a = broadcast(a);
  const Tensor factors = empty_matrices(wide_a, a.size(-2), a.size(-1));
  copy_elements(factors, wide_a);
  visit_matrix_type(a.dtype(), [&]<class T>() {
    for_each_matrix(result, [&](int64_t i) {
      const auto factor = matrix_at<T>(factors, i);
      auto x = matrix_at<T>(result, i);
      const int64_t n = x.rows();
      const Triangle<T> triangle{factor.data(), n, /*transposed=*/false, upper, unitriangular};
      solve_triangle(triangle, n, x.cols(), x.data(), n);
    });
  });
  return result;
}

template <bool with_data>
Tensor solve_triangular_kernel(const Tensor& a, const Tensor& b, bool upper, bool left,
                               bool unitriangular) {
  const char* const op = "linalg_solve_triangular";
  check_square(op, a, Integers::HaveNoKernel);
  check_matrices(op, b, Integers::HaveNoKernel);
  SB_CHECK(a.dtype() == b.dtype() && a.device() == b.device(), op,
           ": B: expected the dtype and device of A = ", a.describe(), ", got ", b.describe());
  SB_CHECK(b.sym_size(left ? -2 : -1) == a.sym_size(-1), op, ": B: expected matrices of ",
           a.sym_size(-1).to_string(), left ? " rows" : " columns", ", got ", b.describe());
  if (left) return solve_left_triangle<with_data>(a, b, upper, unitriangular);
  const auto turned = [](const Tensor& t) {
    const auto rank = static_cast<size_t>(t.dim());
    return alias_transposed(t, rank - 2, rank - 1);
  };
  const Tensor x =
      turned(solve_left_triangle<with_data>(turned(a), turned(b), !upper, unitriangular));
  const Tensor result = empty_matrices(x, x.sym_size(-2), x.sym_size(-1));
  if (with_data) copy_elements(result, x);
  return result;
}

Tensor adjoint_of(const Tensor& a) { return conj(transpose(a, -2, -1)); }

Tensor cholesky_solve_any(const Tensor& self, const Tensor& factor, bool upper) {
  check_square("cholesky_solve", factor, Integers::HaveNoKernel);
  check_matrices("cholesky_solve", self, Integers::HaveNoKernel);
  const Tensor lower = upper ? adjoint_of(factor) : factor;
  const Tensor half = linalg_solve_triangular(lower, self, false);
  return linalg_solve_triangular(adjoint_of(lower), half, true);
}

Tensor cholesky_inverse_any(const Tensor& self, bool upper) {
  check_square("cholesky_inverse", self, Integers::HaveNoKernel);
  return cholesky_solve(
      eye(self.sym_size(-1), self.dtype(), std::nullopt, self.device(), std::nullopt), self, upper);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_solve_triangular)
      .cpu(solve_triangular_kernel<true>)
      .meta(solve_triangular_kernel<false>)
      .out(linalg_solve_triangular_out);
  define(m, cholesky_solve, Tag::derived_through)
      .composite_explicit(cholesky_solve_any)
      .out(cholesky_solve_out, kConvertedOut);
  define(m, cholesky_inverse, Tag::derived_through)
      .composite_explicit(cholesky_inverse_any)
      .out(cholesky_inverse_out, [](const Tensor& self, bool upper, const Tensor& out) {
        const ResultAndOut pair = {cholesky_inverse(self, upper), out};
        copy_results_to_outs("cholesky_inverse", {&pair, 1}, {.keep_strides = true});
        return out;
      });
}

}  // namespace sb
