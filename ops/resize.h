// Giving an existing tensor another shape.

#ifndef SWITCHBOARD_OPS_RESIZE_H_
#define SWITCHBOARD_OPS_RESIZE_H_

#include "switchboard/core/tensor.h"

namespace sb {

// Sets the shape of `t`; empty `strides` mean contiguous ones. The storage grows if it must; the
// storage offset stays. Throws RuntimeError, changing nothing, on bad sizes and where the storage
// cannot grow. As `resize_`.
void resize_tensor(const Tensor& t, IntArrayRef sizes, IntArrayRef strides = {});

// The same for the `out` of an out= call: leaves a tensor that has these sizes as it is, strides
// included. Whether it resized. As `at::native::resize_output`.
bool resize_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides = {});

// Makes the checks of resize_output. After it, only want of memory makes that one throw.
void check_output_resizable(const Tensor& out, IntArrayRef sizes, IntArrayRef strides = {});

// Makes the checks, and room: after it, the same call with the same tensor does
// not throw. Nothing of it is seen in the tensor.
void reserve_output(const Tensor& out, IntArrayRef sizes, IntArrayRef strides = {});

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RESIZE_H_
