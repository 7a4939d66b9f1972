#include "switchboard/ops/linalg/tensor_solve.h"

#include <vector>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/eigenvalues.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/linalg/solve.h"
#include "switchboard/ops/linalg/triangular.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor tensorinv_of(const Tensor& self, int64_t ind) {
  constexpr const char* op = "linalg_tensorinv";
  check_defined(op, self);
  SB_CHECK(ind > 0, op, ": argument ind: expected a positive number, got ", ind);
  const SymIntArrayRef sizes = self.sym_sizes();
  const auto middle = std::min(static_cast<size_t>(ind), sizes.size());
  const SymIntArrayRef rows = sizes.first(middle), cols = sizes.subspan(middle);
  const SymInt n = sym_product(rows);
  SB_CHECK(sym_product(cols) == n, op, ": expected as many elements before dimension ", ind,
           " as behind, got ", self.describe());
  SymDimVector shape(cols.begin(), cols.end());
  shape.insert(shape.end(), rows.begin(), rows.end());
  return reshape(linalg_inv(reshape(self, {n, n})), SymIntArrayRef(shape));
}

Tensor tensorsolve_of(const Tensor& self, const Tensor& other, const OptionalIntArrayRef& dims) {
  constexpr const char* op = "linalg_tensorsolve";
  check_defined(op, self);
  check_defined(op, other);
  Tensor moved = self;
  if (dims) {
    std::vector<int64_t> order;
    const auto is_named = [&](int64_t d) {
      return std::ranges::any_of(*dims,
                                 [&](int64_t k) { return wrap_dim(op, k, self.dim()) == d; });
    };
    for (int64_t d = 0; d < self.dim(); ++d)
      if (!is_named(d)) order.push_back(d);
    for (const int64_t d : *dims) order.push_back(wrap_dim(op, d, self.dim()));
    moved = permute(self, order);
  }
  const SymIntArrayRef sizes = moved.sym_sizes();
  const SymIntArrayRef shape =
      sizes.subspan(std::min(static_cast<size_t>(other.dim()), sizes.size()));
  const SymInt n = sym_product(shape);
  SB_CHECK(
      other.sym_numel() == n && moved.sym_numel() == n * n, op,
      ": expected as many elements in the first dimensions of self, which other has, as in the "
      "rest, got ",
      moved.describe(), " and ", other.describe());
  const Tensor solution = linalg_solve(reshape(moved, {n, n}), reshape(other, {-1}));
  return reshape(solution, shape);
}

Tensor vander_of(const Tensor& x, const std::optional<SymInt>& count) {
  constexpr const char* op = "linalg_vander";
  check_defined(op, x);
  SB_CHECK(x.dtype() != DType::Bool, op, ": expected numbers, got ", x.describe());
  const Tensor vector = x.dim() == 0 ? unsqueeze(x, 0) : x;
  const SymInt n = count ? *count : vector.sym_size(-1);
  SB_CHECK(n > 1, op, ": N: expected more than 1, got ", n.to_string());
  const Tensor base = unsqueeze(vector, -1);
  SymDimVector sizes(base.sym_sizes().begin(), base.sym_sizes().end());
  sizes.back() = n - 1;
  const Tensor columns[] = {ones_like(base), expand(base, SymIntArrayRef(sizes))};
  return cumprod(cat(columns, -1), -1);
}

Two triangular_solve_of(const Tensor& self, const Tensor& a, bool upper, bool transposed,
                        bool unitriangular) {
  constexpr const char* op = "triangular_solve";
  check_defined(op, self);
  check_defined(op, a);
  SB_CHECK(self.dim() >= 2 && a.dim() >= 2, op, ": expected at least 2 dimensions, got ",
           self.describe(), " and ", a.describe());
  SB_CHECK(a.sym_size(-1) == a.sym_size(-2) && self.sym_size(-2) == a.sym_size(-1), op,
           ": expected square matrices, and as many rows as they have, got ", a.describe(), " and ",
           self.describe());
  SB_CHECK_NOT_IMPLEMENTED(is_matrix_dtype(self.dtype()), op, ": not implemented for ",
                           to_string(self.dtype()));
  SymDimVector sizes = broadcast_batches(a, self);
  sizes.insert(sizes.end(), {a.sym_size(-2), a.sym_size(-1)});
  const Tensor wide = expand(a, SymIntArrayRef(sizes));
  const Tensor solution = linalg_solve_triangular(transposed ? transpose(wide, -2, -1) : wide, self,
                                                  upper != transposed, true, unitriangular);
  // Column-major, as factors are.
  const Tensor copy = transpose(clone(transpose(wide, -2, -1), MemoryFormat::Contiguous), -2, -1);
  return {solution, copy};
}

// Row by row, each row times its number.
Tensor scaled_rows(const Tensor& numbers, const Tensor& matrices) {
  return mul(unsqueeze(numbers, -1), matrices);
}
Tensor adjoint_of(const Tensor& a) { return conj(transpose(a, -2, -1)); }

// By A = W S V^H.
Two polar_of(const Tensor& a) {
  constexpr const char* op = "linalg_polar";
  check_matrices(op, a);
  SB_CHECK(a.sym_size(-2) >= a.sym_size(-1), op,
           ": expected at least as many rows as columns, got ", a.describe());
  const auto [w, s, vh] = linalg_svd(a, /*full_matrices=*/false);
  const Tensor v = adjoint_of(vh);
  return {contiguous(matmul(w, vh)), contiguous(matmul(v, scaled_rows(s, vh)))};
}

Tensor matrix_sqrth_of(const Tensor& self) {
  check_square("linalg_matrix_sqrth", self);
  const auto [values, vectors] = linalg_eigh(self);
  const Tensor roots = sqrt(clamp_min(values, 0));
  return contiguous(matmul(vectors, scaled_rows(roots, adjoint_of(vectors))));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_tensorinv).composed(tensorinv_of).out(linalg_tensorinv_out, kCastOut);
  define(m, linalg_tensorsolve).composed(tensorsolve_of).out(linalg_tensorsolve_out, kCastOut);
  define(m, linalg_vander).composed(vander_of);
  define(m, triangular_solve, Tag::derived_through)
      .composite_explicit(triangular_solve_of)
      .out("X", {"X", "M"}, kStructuredOut);
  define(m, linalg_polar, Tag::derived_through)
      .composite_explicit(polar_of)
      .out("out", {"U", "H"}, kStructuredOut);
  define(m, linalg_matrix_sqrth, Tag::derived_through)
      .composite_explicit(matrix_sqrth_of)
      .out("out");
}

}  // namespace sb
