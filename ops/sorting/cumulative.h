// Running sums, products and extremes along a dimension, and differences of neighbours.

#ifndef SWITCHBOARD_OPS_SORTING_CUMULATIVE_H_
#define SWITCHBOARD_OPS_SORTING_CUMULATIVE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Elements are converted to `dtype` first: where none is given, to out's dtype, or without an out
// to int64 for integral inputs. Sums of floats are taken in float64. RuntimeError for results that
// are bool or float16.
SB_OP(cumsum, "aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor");
SB_OP(cumsum_, inplace_of(cumsum));
SB_OP(cumsum_out, out_of(cumsum, "out"));
SB_OP(cumprod, "aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor");
SB_OP(cumprod_, inplace_of(cumprod));
SB_OP(cumprod_out, out_of(cumprod, "out"));
// log(cumsum(exp(self))), without its overflow. Floating-point dtypes but float16.
SB_OP(logcumsumexp, "aten::logcumsumexp(Tensor self, int dim) -> Tensor");
SB_OP(logcumsumexp_out, out_of(logcumsumexp, "out"));
SB_OP(_logcumsumexp, "aten::_logcumsumexp(Tensor self, int dim) -> Tensor");
SB_OP(_logcumsumexp_out, out_of(_logcumsumexp, "out"));

// The largest (smallest) element so far, and the index of the last one that equals it. NaN is the
// most extreme. Real dtypes but float16.
SB_OP(cummax, "aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)");
SB_OP(cummax_out, out_of(cummax, "out", {"values", "indices"}));
SB_OP(cummin, "aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)");
SB_OP(cummin_out, out_of(cummin, "out", {"values", "indices"}));

// The n-th differences of neighbours along `dim`, bool ones by xor.
SB_OP(diff,
      "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, "
      "Tensor? append=None) -> Tensor");
SB_OP(diff_out, out_of(diff, "out"));

// The integral of y along `dim` by trapezoids: dx apart, or over the points x, which broadcast.
SB_OP(trapezoid, "aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor");
SB_OP(trapezoid_x, "aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor");
SB_OP(trapz, "aten::trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor");
SB_OP(trapz_x, "aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor");
SB_OP(cumulative_trapezoid,
      "aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor");
SB_OP(cumulative_trapezoid_x,
      "aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_CUMULATIVE_H_
