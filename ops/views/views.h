// Operators whose result shares the memory of their input: they compute sizes, strides and an
// offset, nothing else, so that one kernel serves every device with strides.

#ifndef SWITCHBOARD_OPS_VIEWS_VIEWS_H_
#define SWITCHBOARD_OPS_VIEWS_VIEWS_H_

#include <optional>

#include "switchboard/dispatch/typed_op.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {

// Any view at all. (views.cc)
SB_OP(as_strided,
      "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, "
      "SymInt? storage_offset=None) -> Tensor(a)");
SB_OP(as_strided_,
      "aten::as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, "
      "SymInt? storage_offset=None) -> Tensor(a!)");
SB_OP(alias, "aten::alias(Tensor(a) self) -> Tensor(a)");
SB_OP(detach, "aten::detach(Tensor(a) self) -> Tensor(a)");
SB_OP(detach_, "aten::detach_(Tensor(a!) self) -> Tensor(a!)");

// Dimensions in another order. (permute.cc)
SB_OP(permute, "aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)");
SB_OP(transpose, "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)");
SB_OP(transpose_, "aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)");
SB_OP(t, "aten::t(Tensor(a) self) -> Tensor(a)");
SB_OP(t_, "aten::t_(Tensor(a!) self) -> Tensor(a!)");
SB_OP(swapaxes, "aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)");
SB_OP(swapaxes_, "aten::swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)");
SB_OP(swapdims, "aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)");
SB_OP(swapdims_, "aten::swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)");
SB_OP(movedim,
      "aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)");
SB_OP(movedim_int, "aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)");

// Dimensions added or taken away. (squeeze.cc)
SB_OP(squeeze, "aten::squeeze(Tensor(a) self) -> Tensor(a)");
SB_OP(squeeze_dim, "aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)");
SB_OP(squeeze_dims, "aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)");
SB_OP(squeeze_, "aten::squeeze_(Tensor(a!) self) -> Tensor(a!)");
SB_OP(squeeze__dim, "aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)");
SB_OP(squeeze__dims, "aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)");
SB_OP(unsqueeze, "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)");
SB_OP(unsqueeze_, "aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)");

// Dimensions of size 1, and new ones, repeated without copying. (expand.cc)
SB_OP(expand, "aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)");
SB_OP(expand_as, "aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)");
SB_OP(broadcast_to, "aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)");

// The same elements in another shape or under another dtype. (reshape.cc)
SB_OP(view, "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
SB_OP(view_dtype, "aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)");
SB_OP(view_as, "aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)");
SB_OP(_unsafe_view, "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor");
SB_OP(_unsafe_view_out,
      "aten::_unsafe_view.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(_reshape_alias,
      "aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)");
SB_OP(reshape, "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)");
SB_OP(reshape_as, "aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)");
SB_OP(flatten,
      "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)");
SB_OP(unflatten, "aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)");

// Parts along one dimension. (slice.cc)
SB_OP(select, "aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)");
SB_OP(slice,
      "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
      "SymInt step=1) -> Tensor(a)");
SB_OP(narrow, "aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)");
SB_OP(narrow_Tensor,
      "aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)");

// All parts along one dimension. (split.cc)
SB_OP(unbind, "aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]");
SB_OP(split,
      "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
SB_OP(split_sizes,
      "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]");
SB_OP(split_with_sizes,
      "aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> "
      "Tensor(a)[]");
SB_OP(chunk, "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]");

// The strides of a view of another shape with the same elements in the same order; nullopt where
// there is none. As `at::detail::computeStride`. The shapes have equally many elements.
std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                      IntArrayRef new_sizes);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_VIEWS_H_
