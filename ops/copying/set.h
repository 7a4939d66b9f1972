// Operators that give a tensor another shape or storage in place.

#ifndef SWITCHBOARD_OPS_COPYING_SET_H_
#define SWITCHBOARD_OPS_COPYING_SET_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The storage grows if it must, and never shrinks; elements keep their places in it. A tensor of
// that size already keeps its strides, unless a memory format is given.
SB_OP(resize_,
      "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> "
      "Tensor(a!)");
SB_OP(resize_as_,
      "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, "
      "MemoryFormat? memory_format=None) -> Tensor(a!)");

// Makes `self` a view of another storage, which grows if it must. self keeps its dtype.
SB_OP(set_, "aten::set_(Tensor(a!) self) -> Tensor(a!)");
SB_OP(set__source_Tensor, "aten::set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)");
SB_OP(set__source_Tensor_storage_offset,
      "aten::set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, "
      "SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)");
SB_OP(set__source_Storage,
      "aten::set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)");
SB_OP(set__source_Storage_storage_offset,
      "aten::set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, "
      "SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)");

// The functional forms, which may share the memory of the source, as in PyTorch. Where that would
// have to grow, the result has a copy of it: it is an argument, and stays as it is.
SB_OP(set, "aten::set(Tensor self) -> Tensor");
SB_OP(set_source_Tensor, "aten::set.source_Tensor(Tensor self, Tensor source) -> Tensor");
SB_OP(set_source_Storage, "aten::set.source_Storage(Tensor self, Storage source) -> Tensor");
SB_OP(set_source_Storage_storage_offset,
      "aten::set.source_Storage_storage_offset(Tensor self, Storage source, "
      "SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COPYING_SET_H_
