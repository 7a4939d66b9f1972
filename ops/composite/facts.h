// Questions about tensors whose answers are plain values, and conversions that ask them.

#ifndef SWITCHBOARD_OPS_COMPOSITE_FACTS_H_
#define SWITCHBOARD_OPS_COMPOSITE_FACTS_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Whether the one element is not 0. RuntimeError unless there is exactly one.
SB_OP(is_nonzero, "aten::is_nonzero(Tensor self) -> bool");
// There is no pinned memory: false.
SB_OP(is_pinned, "aten::is_pinned(Tensor self, Device? device=None) -> bool");
SB_OP(is_complex_op, "aten::is_complex(Tensor self) -> bool");
SB_OP(is_floating_point_op, "aten::is_floating_point(Tensor self) -> bool");
SB_OP(is_signed, "aten::is_signed(Tensor self) -> bool");
SB_OP(is_conj, "aten::is_conj(Tensor self) -> bool");
SB_OP(is_neg, "aten::is_neg(Tensor self) -> bool");
SB_OP(is_inference, "aten::is_inference(Tensor self) -> bool");
// Whether both are the same view of the same storage.
SB_OP(is_set_to, "aten::is_set_to(Tensor self, Tensor tensor) -> bool");
SB_OP(size_int, "aten::size.int(Tensor self, int dim) -> int");
SB_OP(stride_int, "aten::stride.int(Tensor self, int dim) -> int");
// The same as numbers that may be symbols, which nobody settles by asking. IndexError for a dim
// that is none.
SB_OP(sym_size_int, "aten::sym_size.int(Tensor self, int dim) -> SymInt");
SB_OP(sym_stride_int, "aten::sym_stride.int(Tensor self, int dim) -> SymInt");
SB_OP(sym_size, "aten::sym_size(Tensor self) -> SymInt[]");
SB_OP(sym_stride, "aten::sym_stride(Tensor self) -> SymInt[]");
SB_OP(sym_numel, "aten::sym_numel(Tensor self) -> SymInt");
SB_OP(sym_storage_offset, "aten::sym_storage_offset(Tensor self) -> SymInt");
// 0: no two elements share memory; 1: some do; 2: too hard to tell.
SB_OP(_debug_has_internal_overlap, "aten::_debug_has_internal_overlap(Tensor self) -> int");
// Whether the storages hold equally many elements, each of its own tensor's dtype.
SB_OP(_has_same_storage_numel, "aten::_has_same_storage_numel(Tensor self, Tensor other) -> bool");

// The dtype of an operation on both: a number counts less than a tensor of its category, a 0-dim
// tensor less than others.
SB_OP(result_type_Tensor, "aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType");
SB_OP(result_type_Scalar, "aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType");
SB_OP(result_type_Scalar_Tensor,
      "aten::result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType");
SB_OP(result_type_Scalar_Scalar,
      "aten::result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType");
// Whether results of one dtype may be written to tensors of the other: see core/dtype.h.
SB_OP(can_cast_op, "aten::can_cast(ScalarType from_, ScalarType to) -> bool");
// The smallest dtype that both fit in.
SB_OP(promote_types_op, "aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType");
// self. RuntimeError for bool.
SB_OP(positive, "aten::positive(Tensor(a) self) -> Tensor(a)");

// The sizes as a tensor of int64, and reshape to sizes in such a tensor.
SB_OP(_shape_as_tensor, "aten::_shape_as_tensor(Tensor self) -> Tensor");
SB_OP(_reshape_from_tensor, "aten::_reshape_from_tensor(Tensor self, Tensor shape) -> Tensor");
// self on the device and with the dtype of `other`.
SB_OP(type_as, "aten::type_as(Tensor self, Tensor other) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_FACTS_H_
