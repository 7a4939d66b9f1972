// Fresh tensors, made without an operator: what the `empty` kernels of every device are written
// with. As `at::detail::empty_generic` and its family.

#ifndef SWITCHBOARD_CORE_EMPTY_TENSOR_H_
#define SWITCHBOARD_CORE_EMPTY_TENSOR_H_

#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/tensor.h"

namespace sb {

// An uninitialised tensor of the given sizes, in the strides of `format` (Contiguous or a
// channels-last one). `keys` is the whole key set of the result. Throws RuntimeError on negative or
// overflowing sizes and when memory runs out.
Tensor empty_generic(IntArrayRef sizes, Allocator* allocator, DispatchKeySet keys, DType dtype,
                     Device device, MemoryFormat format = MemoryFormat::Contiguous);
Tensor empty_strided_generic(IntArrayRef sizes, IntArrayRef strides, Allocator* allocator,
                             DispatchKeySet keys, DType dtype, Device device);

// The same on a device that has an allocator registered, with the keys of its plain tensors.
Tensor empty_on(Device device, IntArrayRef sizes, DType dtype,
                MemoryFormat format = MemoryFormat::Contiguous);
Tensor empty_strided_on(Device device, IntArrayRef sizes, IntArrayRef strides, DType dtype);

// A view of `base`'s storage with other sizes, strides and offset (in elements), sharing its
// version counter, keys and mode data. Checks that the view stays inside the storage. As
// `as_strided`.
Tensor alias_with(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset);
// The same without the check, for views that cannot leave their base.
Tensor alias_with_unchecked(const Tensor& base, IntArrayRef sizes, IntArrayRef strides,
                            int64_t offset);
// Both with symbols; the first is on the meta device, and contiguous without strides.
Tensor empty_with_symbols(SymIntArrayRef sizes, SymIntArrayRef strides, DType dtype);
Tensor alias_with_symbols(const Tensor& base, SymIntArrayRef sizes, SymIntArrayRef strides,
                          const SymInt& offset);
// A view of `base` with two dimensions (not negative, in range) swapped.
Tensor alias_transposed(const Tensor& base, size_t dim0, size_t dim1);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_EMPTY_TENSOR_H_
