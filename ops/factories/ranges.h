// Fresh tensors of a pattern: arange, linspace, logspace and eye.

#ifndef SWITCHBOARD_OPS_FACTORIES_RANGES_H_
#define SWITCHBOARD_OPS_FACTORIES_RANGES_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// start, start + step, ... below end (above it if step is negative). int64 if all numbers are
// integers, else of the default dtype.
SB_OP(arange,
      "aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor");
SB_OP(arange_start,
      "aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(arange_start_step,
      "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? "
      "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
      "Tensor");
SB_OP(arange_out, "aten::arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(arange_start_out,
      "aten::arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> "
      "Tensor(a!)");

// `steps` numbers from start to end, both included, at equal distances, and the powers of base with
// such exponents. Of the default dtype, complex where a bound is. RuntimeError where steps is
// negative, and where a complex bound is to become real.
SB_OP(linspace,
      "aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(linspace_out,
      "aten::linspace.out(Scalar start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(logspace,
      "aten::logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? "
      "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(logspace_out,
      "aten::logspace.out(Scalar start, Scalar end, int steps, float base=10.0, *, Tensor(a!) "
      "out) -> Tensor(a!)");

// n rows and m columns (n if no m is given), ones on the diagonal.
SB_OP(eye,
      "aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor");
SB_OP(eye_m,
      "aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(eye_out, "aten::eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(eye_m_out, "aten::eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FACTORIES_RANGES_H_
