// Operators that give a tensor another shape or storage in place.

#ifndef SWITCHBOARD_OPS_SET_H_
#define SWITCHBOARD_OPS_SET_H_

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

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SET_H_
