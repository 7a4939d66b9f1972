#include "switchboard/ops/linalg/least_squares.h"

#include <limits>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;
constexpr const char* kOp = "linalg_lstsq";

Tensor adjoint(const Tensor& a) { return conj(transpose(a, -2, -1)); }

void check_inputs(const Tensor& a, const Tensor& b, std::string_view driver) {
  check_matrices(kOp, a);
  check_defined(kOp, b);
  SB_CHECK(a.dtype() == b.dtype() && a.device() == b.device(), kOp,
           ": b: expected the dtype and device of self = ", a.describe(), ", got ", b.describe());
  SB_CHECK(b.dim() >= 1 && (b.dim() == a.dim() || b.dim() == a.dim() - 1), kOp,
           ": b: expected as many dimensions as self = ", a.describe(), " has, or one less, got ",
           b.describe());
  const int64_t rows = b.sizes()[b.sizes().size() - (b.dim() == a.dim() ? 2 : 1)];
  SB_CHECK(rows == a.size(-2), kOp, ": b: expected ", a.size(-2), " rows, got ", b.describe());
  SB_CHECK(driver == "gels" || driver == "gelsy" || driver == "gelsd" || driver == "gelss", kOp,
           ": driver: expected gels, gelsy, gelsd or gelss, got ", driver);
}

double default_rcond(const Tensor& a) {
  const double epsilon = to_real(a.dtype()) == DType::Float32
                             ? std::numeric_limits<float>::epsilon()
                             : std::numeric_limits<double>::epsilon();
  return epsilon * static_cast<double>(std::max(a.size(-2), a.size(-1)));
}

// Which singular values are not 0.
Tensor counted(const Tensor& values, double rcond) {
  if (values.size(-1) == 0) return gt_Scalar(values, 0);
  const Tensor largest = amax(values, {-1}, /*keepdim=*/true);
  return gt(values, mul_Scalar(largest, rcond));
}

// Of each column, the squares of what A X leaves of B.
Tensor squares_left(const Tensor& a, const Tensor& x, const Tensor& b) {
  const Tensor left = sub(matmul(a, x), b);
  return sum_dim(is_complex(a.dtype()) ? real(mul(left, conj(left))) : mul(left, left), {-2});
}

// In the memory of as many rows as the larger size of A, as LAPACK leaves it.
Tensor as_lapack_leaves_it(const Tensor& a, const Tensor& x) {
  const Tensor all = empty_matrices(x, std::max(a.size(-2), a.size(-1)), x.size(-1));
  const Tensor result = narrow(all, -2, 0, x.size(-2));
  copy_elements(result, x);
  return result;
}

Four lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond,
           std::optional<std::string_view> named) {
  const std::string_view driver = named.value_or("gelsy");
  check_inputs(a, b, driver);
  const bool vectors = b.dim() != a.dim();
  const bool full_rank = driver == "gels", by_values = driver == "gelsd" || driver == "gelss";
  const Tensor matrices = vectors ? unsqueeze(b, -1) : b;

  const auto [u, s, vh] = linalg_svd(a, /*full_matrices=*/false, std::nullopt);
  const Tensor counts = full_rank ? ge_Scalar(s, 0) : counted(s, rcond.value_or(default_rcond(a)));
  const Tensor inverse = where(counts, reciprocal(s), zeros_like(s));
  const Tensor x = matmul(adjoint(vh), mul(unsqueeze(inverse, -1), matmul(adjoint(u), matrices)));

  const auto none = [&](DType dtype) { return empty_on(a.device(), {0}, dtype); };
  const Tensor rank = full_rank ? none(DType::Int64) : sum_dim(counts, {-1});
  Tensor residuals = none(to_real(a.dtype()));
  if (driver != "gelsy" && a.size(-2) > a.size(-1) &&
      (full_rank || item(all_all(eq_Scalar(rank, a.size(-1)))).to<bool>())) {
    residuals = squares_left(a, x, matrices);
  }
  const Tensor solution = as_lapack_leaves_it(a, x);
  return {vectors ? squeeze_dim(solution, -1) : solution, residuals, rank,
          by_values ? s : none(to_real(a.dtype()))};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_lstsq, Tag::dynamic_output_shape)
      .cpu(lstsq)
      .out("out", {"solution", "residuals", "rank", "singular_values"},
           {.dtype = OutDType::Cast, .keep_strides = true});
}

}  // namespace sb
