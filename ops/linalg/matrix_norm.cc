#include "switchboard/ops/linalg/matrix_norm.h"

#include <cmath>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/statistics/norm.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

struct MatrixDims {
  int64_t row, column;

  MatrixDims(const char* op, const Tensor& a, IntArrayRef dim) {
    check_defined(op, a);
    SB_CHECK(is_floating_point(a.dtype()) || is_complex(a.dtype()), op,
             ": expected a floating-point or complex tensor, got ", a.describe());
    SB_CHECK(a.dim() >= 2, op, ": expected at least 2 dimensions, got ", a.describe());
    SB_CHECK(dim.size() == 2, op, ": dim: expected two dimensions, got ", shape_text(dim));
    row = wrap_dim(op, dim[0], a.dim());
    column = wrap_dim(op, dim[1], a.dim());
    SB_CHECK(row != column, op, ": dim: expected two different dimensions, got ", shape_text(dim));
  }
};
constexpr const char* kMatrixOp = "linalg_matrix_norm";

// The singular values of the matrices, in a last dimension.
Tensor singular_values(const Tensor& a, MatrixDims dims, std::optional<DType> dtype) {
  const Tensor x = dtype ? to_dtype(a, *dtype) : a;
  return linalg_svdvals(movedim(x, {dims.row, dims.column}, {-2, -1}));
}
Tensor with_kept_dims(const Tensor& result, MatrixDims dims, bool keepdim) {
  if (!keepdim) return result;
  return unsqueeze(unsqueeze(result, std::min(dims.row, dims.column)),
                   std::max(dims.row, dims.column));
}

Tensor matrix(const Tensor& a, const Scalar& ord, IntArrayRef dim, bool keepdim,
              std::optional<DType> dtype) {
  const MatrixDims dims(kMatrixOp, a, dim);
  const double order = ord.to<double>(), magnitude = std::abs(order);
  SB_CHECK(magnitude == 1 || magnitude == 2 || std::isinf(magnitude), kMatrixOp,
           ": ord: expected 1, 2 or inf, or one of these negative, got ", ord.to_string());
  const auto extreme = [&](const Tensor& x, int64_t d, bool keep) {
    return order > 0 ? amax(x, {d}, keep) : amin(x, {d}, keep);
  };
  if (magnitude == 2) {
    return with_kept_dims(extreme(singular_values(a, dims, dtype), -1, false), dims, keepdim);
  }
  int64_t summed = dims.row, left = dims.column;
  if (std::isinf(magnitude)) std::swap(summed, left);
  if (!keepdim && summed < left) --left;
  return extreme(linalg_vector_norm(a, 1, {summed}, keepdim, dtype), left, keepdim);
}
Tensor matrix_str(const Tensor& a, std::string_view ord, IntArrayRef dim, bool keepdim,
                  std::optional<DType> dtype) {
  const MatrixDims dims(kMatrixOp, a, dim);
  SB_CHECK(ord == "fro" || ord == "nuc", kMatrixOp, ": ord: expected \"fro\" or \"nuc\", got \"",
           ord, "\"");
  if (ord == "fro") {
    return linalg_vector_norm(a, 2, {dims.row, dims.column}, keepdim, dtype);
  }
  return with_kept_dims(sum(singular_values(a, dims, dtype), {-1}), dims, keepdim);
}

constexpr const char* kNormOp = "linalg_norm";
void check_norm(const Tensor& x, const OptionalIntArrayRef& dim) {
  check_defined(kNormOp, x);
  if (dim) {
    SB_CHECK(dim->size() == 1 || dim->size() == 2, kNormOp,
             ": dim: expected one or two dimensions, got ", shape_text(*dim));
  } else {
    SB_CHECK(x.dim() == 1 || x.dim() == 2, kNormOp,
             ": without dim, an order takes 1 or 2 dimensions, got ", x.describe());
  }
}
Tensor norm_of(const Tensor& x, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
               bool keepdim, std::optional<DType> dtype) {
  if (ord) check_norm(x, dim);
  check_defined(kNormOp, x);
  if (!ord || (dim ? dim->size() == 1 : x.dim() == 1)) {
    return linalg_vector_norm(x, ord.value_or(2), dim, keepdim, dtype);
  }
  const int64_t last[] = {-2, -1};
  return linalg_matrix_norm(x, *ord, dim ? *dim : IntArrayRef(last), keepdim, dtype);
}
Tensor norm_of_str(const Tensor& x, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
  check_norm(x, dim);
  const int64_t last[] = {-2, -1};
  return linalg_matrix_norm_str(x, ord, dim ? *dim : IntArrayRef(last), keepdim, dtype);
}

Tensor frobenius(const Tensor& self) { return norm_Scalar(self, 2); }
Tensor frobenius_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  SB_CHECK(dim.size() <= 2, "frobenius_norm: dim: expected at most 2 dimensions, got ",
           shape_text(dim));
  return norm_dim(self, 2, dim, keepdim);
}
Tensor nuclear(const Tensor& self, bool keepdim) {
  check_defined("nuclear_norm", self);
  SB_CHECK(self.dim() == 2, "nuclear_norm: expected 2 dimensions, got ", self.describe());
  return linalg_matrix_norm_str(self, "nuc", {0, 1}, keepdim);
}
Tensor nuclear_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return linalg_matrix_norm_str(self, "nuc", dim, keepdim);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  // Those of linalg demand the result's own dtype.
  define(m, linalg_matrix_norm).composed(matrix).out(linalg_matrix_norm_out, kCopiedOut);
  define(m, linalg_matrix_norm_str)
      .composed(matrix_str)
      .out(linalg_matrix_norm_str_out, kCopiedOut);
  define(m, linalg_norm).composed(norm_of).out(linalg_norm_out, kCopiedOut);
  define(m, linalg_norm_str).composed(norm_of_str).out(linalg_norm_str_out, kCopiedOut);
  define(m, frobenius_norm).composed(frobenius);
  define(m, frobenius_norm_dim).composed(frobenius_dim).out(frobenius_norm_dim_out);
  define(m, nuclear_norm).composed(nuclear).out(nuclear_norm_out);
  define(m, nuclear_norm_dim).composed(nuclear_dim).out(nuclear_norm_dim_out);
}

}  // namespace sb
