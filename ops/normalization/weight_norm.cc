#include "switchboard/ops/normalization/weight_norm.h"

#include <tuple>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/statistics/norm.h"

namespace sb {
namespace {

using WeightAndNorms = std::tuple<Tensor, Tensor>;

std::vector<int64_t> dims_except(int64_t rank, int64_t dim) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim) dims.push_back(d);
  return dims;
}

Tensor norm_besides(const Tensor& v, int64_t pow, int64_t dim) {
  check_defined("norm_except_dim", v);
  if (dim == -1) return norm_Scalar(v, pow);
  SB_CHECK_INDEX(dim >= 0 && dim < v.dim(), "norm_except_dim: argument dim: expected -1, or a ",
                 "dimension of ", v.describe(), ", got ", dim);
  const std::vector<int64_t> dims = dims_except(v.dim(), dim);
  if (dims.empty()) return abs(v);  // no dimensions would be all of them
  return norm_dim(v, pow, dims, true);
}

Tensor in_dtype(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : to_dtype(t, dtype);
}
DType norms_dtype(DType dtype) { return dtype == DType::Float64 ? dtype : DType::Float32; }

bool is_outer(const Tensor& v, int64_t dim) { return dim == 0 || dim == v.dim() - 1; }

// Added up over all dimensions but one.
Tensor sum_besides(const Tensor& t, int64_t dim) {
  const std::vector<int64_t> dims = dims_except(t.dim(), dim);
  return dims.empty() ? t : sum(t, dims, true);
}

WeightAndNorms weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim) {
  const char* op = "_weight_norm_interface";
  check_defined(op, v);
  check_defined(op, g);
  SB_CHECK(v.dim() > 0 && is_outer(v, dim), op, ": argument dim: expected the first or last of ",
           v.describe(), ", got ", dim);
  SB_CHECK(g.dtype() == v.dtype(), op, ": expected v and g of one dtype, got ", v.describe(),
           " and ", g.describe());
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(v.dtype()), op, ": not implemented for ",
                           to_string(v.dtype()));
  const Tensor wide = in_dtype(contiguous(v), norms_dtype(v.dtype()));
  const Tensor found = sqrt(sum_besides(mul(wide, wide), dim));
  bool fits = g.dim() == found.dim();
  for (int64_t d = 0; fits && d < g.dim(); ++d) fits = same_size(g.sym_size(d), found.sym_size(d));
  SB_CHECK(fits, op, ": argument g: expected the shape ", shape_text(found.sym_sizes()), ", got ",
           g.describe());
  const Tensor w = mul(wide, div(in_dtype(g, wide.dtype()), found));
  // The norms lie in memory as g does, gaps and all.
  const Tensor norms = empty_strided(g.sym_sizes(), g.sym_strides(), found.dtype(), std::nullopt,
                                     found.device(), std::nullopt);
  return {in_dtype(w, v.dtype()), copy_(norms, found)};
}

WeightAndNorms weight_norm_backward(const Tensor& grad_w, const Tensor& saved_v,
                                    const Tensor& saved_g, const Tensor& saved_norms, int64_t dim) {
  const char* op = "_weight_norm_interface_backward";
  for (const Tensor* t : {&grad_w, &saved_v, &saved_g, &saved_norms}) check_defined(op, *t);
  SB_CHECK(saved_v.dim() > 0 && is_outer(saved_v, dim), op, ": argument dim: expected the first ",
           "or last of ", saved_v.describe(), ", got ", dim);
  for (const Tensor* t : {&saved_v, &saved_g, &saved_norms}) {
    SB_CHECK(t->is_contiguous(), op, ": expected a contiguous tensor, got ", t->describe());
  }
  const DType dtype = saved_norms.dtype();
  const Tensor grad = in_dtype(contiguous(grad_w), dtype);
  const Tensor v = in_dtype(contiguous(saved_v), dtype), g = in_dtype(saved_g, dtype);
  const Tensor along = div(sum_besides(mul(grad, v), dim), saved_norms);
  const Tensor across = sub(grad, mul(v, div(along, saved_norms)));
  return {in_dtype(mul(across, div(g, saved_norms)), saved_v.dtype()),
          in_dtype(along, saved_g.dtype())};
}

Tensor weight_norm(const Tensor& v_given, const Tensor& g_given, int64_t dim) {
  check_defined("_weight_norm", v_given);
  check_defined("_weight_norm", g_given);
  const Tensor v = contiguous(v_given), g = contiguous(g_given);
  if (v.dim() > 0 && is_outer(v, dim)) return std::get<0>(_weight_norm_interface(v, g, dim));
  return mul(v, div(g, norm_except_dim(v, 2, dim)));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _weight_norm).composed(weight_norm);
  define(m, norm_except_dim).composed(norm_besides);
  define(m, _weight_norm_interface)
      .composite_explicit(weight_norm_interface)
      .out("out", {}, kStructuredOut);
  define(m, _weight_norm_interface_backward, Tag::derived_through)
      .composite_explicit(weight_norm_backward)
      .out("out", {}, kStructuredOut);
  define(m, _weight_norm_differentiable_backward).composed(weight_norm_backward);
}

}  // namespace sb
