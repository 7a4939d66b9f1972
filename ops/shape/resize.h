// Giving an existing tensor another shape.

#ifndef SWITCHBOARD_OPS_SHAPE_RESIZE_H_
#define SWITCHBOARD_OPS_SHAPE_RESIZE_H_

#include "switchboard/core/tensor.h"

namespace sb {

// Sets the shape of `t`; empty `strides` mean contiguous ones. The storage grows if it must; the
// storage offset stays. Throws RuntimeError, changing nothing, on bad sizes and where the storage
// cannot grow. As `resize_`.
void resize_tensor(const Tensor& t, IntArrayRef sizes, IntArrayRef strides = {});

// The same for the `out` of an out= call: leaves a tensor that has these sizes as it is, strides
// included. Whether it resized. As `at::native::resize_output`.
bool resize_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides = {});

// Both for sizes that may be symbols, on the meta device; the first sets the strides, too.
void set_symbolic_sizes(const Tensor& t, SymIntArrayRef sizes, SymIntArrayRef strides = {});
bool resize_symbolic_output(const Tensor& out, SymIntArrayRef sizes);

// Makes the checks of resize_output, and returns whether it will grow the storage. Only want of
// memory makes it throw then.
bool output_must_grow(const Tensor& out, IntArrayRef sizes, IntArrayRef strides = {});

// Makes the checks, and room: resize_output of the same tensor does not throw then. The tensor
// itself stays as it is.
void reserve_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides = {});

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_RESIZE_H_
