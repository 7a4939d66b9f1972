// The operators that gradients are added, copied and shaped with.
//
// Autograd stands beside the operators and includes none of their headers: it finds them in the
// registry by these schemas, as any program may. Calls throw RuntimeError where the program has not
// linked the operator, TypeError where it is registered with other types.

#ifndef SWITCHBOARD_AUTOGRAD_ENGINE_OPERATORS_H_
#define SWITCHBOARD_AUTOGRAD_ENGINE_OPERATORS_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb::internal::engine {

SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
SB_OP(add_, "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
SB_OP(div, "aten::div.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(sum_dim,
      "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
SB_OP(sum_to_size, "aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor");
SB_OP(index_add_,
      "aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, "
      "Scalar alpha=1) -> Tensor(a!)");
SB_OP(zero_, "aten::zero_(Tensor(a!) self) -> Tensor(a!)");

SB_OP(where, "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor");
SB_OP(logical_and, "aten::logical_and(Tensor self, Tensor other) -> Tensor");
SB_OP(logical_or, "aten::logical_or(Tensor self, Tensor other) -> Tensor");

SB_OP(clone, "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor");
SB_OP(copy_, "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)");
SB_OP(to_dtype,
      "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)");
SB_OP(to,
      "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)");

SB_OP(alias, "aten::alias(Tensor(a) self) -> Tensor(a)");
SB_OP(detach, "aten::detach(Tensor(a) self) -> Tensor(a)");
SB_OP(real, "aten::real(Tensor(a) self) -> Tensor(a)");
SB_OP(reshape, "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)");
SB_OP(squeeze_dim, "aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)");
SB_OP(as_strided,
      "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, "
      "SymInt? storage_offset=None) -> Tensor(a)");

SB_OP(arange,
      "aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(empty_strided,
      "aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(zeros,
      "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(ones,
      "aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(new_zeros,
      "aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(ones_like,
      "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor");

}  // namespace sb::internal::engine

#endif  // SWITCHBOARD_AUTOGRAD_ENGINE_OPERATORS_H_
