#include "switchboard/ops/linalg/condition.h"

#include <cmath>
#include <limits>

#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/linalg/matrix_batch.h"
#include "switchboard/ops/linalg/matrix_norm.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

constexpr const char* kOp = "linalg_cond";

void check_matrices(const Tensor& self) {
  check_defined(kOp, self);
  SB_CHECK(self.dim() >= 2, kOp, ": expected at least 2 dimensions, got ", self.describe());
}
// Norms of which the matrix and its inverse are taken.
void check_square(const Tensor& self, const std::string& p) {
  SB_CHECK(self.sym_size(-1) == self.sym_size(-2), kOp, ": expected square matrices where p is ", p,
           ", got ", self.describe());
}

Tensor of_empty(const Tensor& self) {
  const SymIntArrayRef sizes = self.sym_sizes();
  return zeros(sizes.first(sizes.size() - 2), to_real(self.dtype()), std::nullopt, self.device());
}

template <class Norm>
Tensor by_inverse(const Tensor& self, const Norm& norm) {
  const auto [inverse, info] = linalg_inv_ex(self, /*check_errors=*/false);
  const Tensor singular = unsqueeze(unsqueeze(gt_Scalar(info, 0), -1), -1);
  return mul(norm(self),
             norm(masked_fill(inverse, singular, std::numeric_limits<double>::infinity())));
}

Tensor cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_matrices(self);
  SB_CHECK_VALUE(!p || !p->is_complex(), kOp, ": p: expected a real number, got ", p->to_string());
  const double order = p ? p->to<double>() : 2, magnitude = std::abs(order);
  SB_CHECK_VALUE(magnitude == 1 || magnitude == 2 || std::isinf(magnitude), kOp,
                 ": p: expected 1, 2 or inf, or one of these negative, got ", p->to_string());
  if (has_no_elements(self)) return of_empty(self);
  if (magnitude == 2) {
    const Tensor values = linalg_svdvals(self);
    const Tensor largest = select(values, -1, 0), smallest = select(values, -1, -1);
    return order > 0 ? div(largest, smallest) : div(smallest, largest);
  }
  check_square(self, p->to_string());
  return by_inverse(self, [&](const Tensor& a) { return linalg_matrix_norm(a, *p); });
}

Tensor cond_str(const Tensor& self, std::string_view p) {
  check_matrices(self);
  check_square(self, str_cat("'", p, "'"));
  SB_CHECK_VALUE(p == "fro" || p == "nuc", kOp, ": p: expected 'fro' or 'nuc', got '", p, "'");
  if (has_no_elements(self)) return of_empty(self);
  if (p == "fro")
    return by_inverse(self, [](const Tensor& a) { return linalg_matrix_norm_str(a, "fro"); });
  // Singular values take no infinities, which the inverse of a singular matrix has.
  const Tensor values = linalg_svdvals(self);
  return mul(sum_dim(values, {-1}), sum_dim(reciprocal(values), {-1}));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_cond).composed(cond).out(linalg_cond_out, kCastOut);
  define(m, linalg_cond_str).composed(cond_str).out(linalg_cond_str_out, kCastOut);
}

}  // namespace sb
