// Conversion of elements from one dtype to another: the one place that knows pairs of dtypes.

#ifndef SWITCHBOARD_OPS_CPU_CAST_H_
#define SWITCHBOARD_OPS_CPU_CAST_H_

#include <cstdint>

#include "switchboard/core/dtype.h"
#include "switchboard/core/scalar.h"

namespace sb {

// Converts n elements. Strides are in bytes; 0 repeats one element. The ranges do not overlap.
// Converts as PyTorch's copy_: complex to real drops the imaginary part, floating point to integral
// truncates, everything but 0 is true; values that do not fit wrap.
using CastFunction = void (*)(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                              int64_t n);
CastFunction cast_function(DType from, DType to);

// Writes a number as one element of `dtype`. Throws RuntimeError where it does not fit the dtype,
// as `c10::checked_convert`: "value cannot be converted to type uint8 without overflow".
void store_scalar(const Scalar& value, DType dtype, void* to);
// The element as a number of its category.
Scalar load_scalar(DType dtype, const void* from);
// Throws what store_scalar throws. A symbol passes: its value is looked at when it is stored.
void check_scalar_fits(const Scalar& value, DType dtype);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_CAST_H_
