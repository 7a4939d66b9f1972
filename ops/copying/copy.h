// copy_, and what is made of it: conversions, clones, contiguous tensors.

#ifndef SWITCHBOARD_OPS_COPYING_COPY_H_
#define SWITCHBOARD_OPS_COPYING_COPY_H_

#include "switchboard/core/tensor.h"
#include "switchboard/ops/define/forms.h"

namespace sb {

// Writes the elements of `src`, broadcast to self's shape and converted to its dtype, to `self`.
// Between devices it calls _copy_from, except that nothing is read from or written to meta tensors.
SB_OP(copy_, "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)");
// What a device that is not CPU registers to take part in copy_: writes `self` to `dst`, either of
// which may be on another device. Its result is not used.
SB_OP(_copy_from, "aten::_copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor");
// The same for a `dst` that takes self's shape first. For devices alone: nothing else calls it.
SB_OP(_copy_from_and_resize, "aten::_copy_from_and_resize(Tensor self, Tensor dst) -> Tensor");

// A new tensor, with what is not given as in self.
SB_OP(clone, "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor");
SB_OP(clone_out, out_of(clone, "out"));
SB_OP(_to_copy,
      "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
      "MemoryFormat? memory_format=None) -> Tensor");
SB_OP(_to_copy_out,
      "aten::_to_copy.out(Tensor self, *, bool non_blocking=False, "
      "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)");

// self itself where it is what is asked for, else a copy.
SB_OP(contiguous,
      "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> "
      "Tensor(a)");
SB_OP(to_dtype,
      "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)");
SB_OP(to_device,
      "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
      "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)");
SB_OP(to,
      "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)");
SB_OP(to_other,
      "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)");

// The arithmetic of copy_ on the CPU, without a dispatch. Throws RuntimeError where `src` does not
// broadcast to self's shape or their memory overlaps in part.
void copy_elements(const Tensor& self, const Tensor& src, bool check_overlap = true);
// A contiguous CPU tensor of src's elements in another dtype.
Tensor cast_copy(const Tensor& src, DType dtype);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COPYING_COPY_H_
