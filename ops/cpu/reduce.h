// The walk over the elements that every reduction to a number per output element shares.

#ifndef SWITCHBOARD_OPS_CPU_REDUCE_H_
#define SWITCHBOARD_OPS_CPU_REDUCE_H_

#include "switchboard/core/tensor.h"
#include "switchboard/ops/cpu/reduction.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {

// Reduces the dimensions `reduced` of `self`, each element converted to `through` first, and
// writes the results to `out`, which has the other dimensions (or, for each reduced one, 1), any
// dtype and strides, and no memory of self's. Large inputs are split over threads, in pieces that
// do not depend on how many there are.
//
// Sums are taken in float64: of float32 those of blocks of 4096 elements, which are added in
// float32 as balanced trees (see reduce_sums.h); of float64 with compensation. Integers wrap, NaN
// is both the largest and the smallest number. Reducing no element gives 0 (sums, norms, Any,
// CountNonzero), 1 (Prod, All), -inf (LogSumExp) or NaN (Mean, Variance); Max and Min need one.
// Arithmetic for `through`: Sum and Prod all dtypes; Mean, Variance and norms floating-point and
// complex ones; Max, Min and NanSum real ones; LogSumExp floating-point ones; Any, All and
// CountNonzero convert to bool whatever it is.
void reduce_into(Reduction kind, const Tensor& self, DimSet reduced, DType through,
                 const Tensor& out, const ReduceParams& params = {});

// The index of the largest (or smallest) element along `dim`, the first of equals, NaN counting as
// the most extreme; and the element itself, where `values` is defined. The outputs lack `dim`, or
// have size 1 there. Not for complex dtypes; `dim` is not empty.
void arg_reduce_into(bool largest, const Tensor& self, int64_t dim, const Tensor& values,
                     const Tensor& indices);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_REDUCE_H_
