// Fresh tensors: empty, zeros, ones, full, and their _like and new_ forms.

#ifndef SWITCHBOARD_OPS_FACTORIES_FACTORIES_H_
#define SWITCHBOARD_OPS_FACTORIES_FACTORIES_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Uninitialised tensors. A kernel of every device; the device argument says which, by
// BackendSelect.
SB_OP(empty,
      "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
      "memory_format=None) -> Tensor");
SB_OP(empty_out,
      "aten::empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) "
      "-> Tensor(a!)");
SB_OP(empty_strided,
      "aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(empty_strided_out,
      "aten::empty_strided.out(SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> "
      "Tensor(a!)");

// Dense, with the dimensions in memory in the order that physical_layout names, slowest first.
// RuntimeError unless that is a permutation, without negative dimensions.
SB_OP(empty_permuted,
      "aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(empty_permuted_out,
      "aten::empty_permuted.out(SymInt[] size, int[] physical_layout, *, Tensor(a!) out) -> "
      "Tensor(a!)");

// Filled tensors. The dtype is the default one; that of full is the category of fill_value.
SB_OP(zeros,
      "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor");
SB_OP(zeros_out, "aten::zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(ones,
      "aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor");
SB_OP(ones_out, "aten::ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(full,
      "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(full_out,
      "aten::full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(scalar_tensor,
      "aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor");
SB_OP(scalar_tensor_out, "aten::scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!)");

// Tensors of self's shape, and of its dtype and device where no others are given.
SB_OP(empty_like,
      "aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor");
SB_OP(empty_like_out,
      "aten::empty_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) "
      "out) -> Tensor(a!)");
SB_OP(zeros_like,
      "aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor");
SB_OP(zeros_like_out,
      "aten::zeros_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) "
      "out) -> Tensor(a!)");
SB_OP(ones_like,
      "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor");
SB_OP(ones_like_out,
      "aten::ones_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) "
      "-> Tensor(a!)");
SB_OP(full_like,
      "aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
      "memory_format=None) -> Tensor");
SB_OP(full_like_out,
      "aten::full_like.out(Tensor self, Scalar fill_value, *, MemoryFormat? "
      "memory_format=None, Tensor(a!) out) -> Tensor(a!)");

// Tensors of another shape, and of self's dtype and device where no others are given.
SB_OP(new_empty,
      "aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(new_empty_out,
      "aten::new_empty.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(new_empty_strided,
      "aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? "
      "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
      "Tensor");
SB_OP(new_empty_strided_out,
      "aten::new_empty_strided.out(Tensor self, SymInt[] size, SymInt[] stride, *, "
      "Tensor(a!) out) -> Tensor(a!)");
SB_OP(new_zeros,
      "aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(new_zeros_out,
      "aten::new_zeros.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(new_ones,
      "aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(new_ones_out,
      "aten::new_ones.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(new_full,
      "aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? "
      "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
      "Tensor");
SB_OP(new_full_out,
      "aten::new_full.out(Tensor self, SymInt[] size, Scalar fill_value, *, Tensor(a!) out) "
      "-> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FACTORIES_FACTORIES_H_
