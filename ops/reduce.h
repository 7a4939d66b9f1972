// The walk over the elements that every reduction to a number per output element shares.

#ifndef SWITCHBOARD_OPS_REDUCE_H_
#define SWITCHBOARD_OPS_REDUCE_H_

#include <cstdint>

#include "switchboard/core/tensor.h"
#include "switchboard/ops/dims.h"

namespace sb {

enum class Reduction : uint8_t { Sum, Mean, Prod, Max, Min, Any, All };

// Reduces the dimensions `reduced` of `self`, each element converted to out's dtype first, and
// writes the results to `out`, which has the other dimensions (or, for each reduced one, 1), any
// strides, and no memory of self's. Sums of 16-bit and 32-bit floats are taken in float64, integers
// wrap, NaN is both the largest and the smallest number. Reducing no element gives 0 (Sum, Any), 1
// (Prod, All) or NaN (Mean); Max and Min need one. Arithmetic for: Sum and Prod all dtypes, Mean
// floating-point and complex ones, Max and Min real ones; Any and All convert to bool, and write
// bool or uint8.
void reduce_into(Reduction kind, const Tensor& self, DimSet reduced, const Tensor& out);

// The index of the largest (or smallest) element along `dim`, the first of equals, NaN counting as
// the most extreme; and the element itself, where `values` is defined. The outputs lack `dim`, or
// have size 1 there. Not for complex dtypes; `dim` is not empty.
void arg_reduce_into(bool largest, const Tensor& self, int64_t dim, const Tensor& values,
                     const Tensor& indices);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_REDUCE_H_
