// The functional forms of writing to a view, or to all of a tensor: a new tensor that is as `self`
// would be after the write. What functionalisation puts in the place of mutations.

#ifndef SWITCHBOARD_OPS_VIEWS_SCATTER_VIEWS_H_
#define SWITCHBOARD_OPS_VIEWS_SCATTER_VIEWS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// `self` with the elements of `src` where slice, select or as_strided would look. `src` has the
// shape of that view and is converted to self's dtype. Throw what the view does, and RuntimeError
// where the shape differs. The result has self's strides, gaps and all.
SB_OP(slice_scatter,
      "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
      "SymInt? end=None, SymInt step=1) -> Tensor");
SB_OP(slice_scatter_out, out_of(slice_scatter, "out"));
SB_OP(select_scatter,
      "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor");
SB_OP(select_scatter_out, out_of(select_scatter, "out"));
// The offset counts from where self's storage starts; the result has self's offset.
SB_OP(as_strided_scatter,
      "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
      "SymInt? storage_offset=None) -> Tensor");
SB_OP(as_strided_scatter_out, out_of(as_strided_scatter, "out"));

// What copy_, fill_ and zero_ would make of `self`. copy gives a tensor with self's dtype, device
// and strides, never `src` itself.
SB_OP(copy, "aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor");
SB_OP(copy_out, out_of(copy, "out"));
SB_OP(fill, "aten::fill.Scalar(Tensor self, Scalar value) -> Tensor");
SB_OP(fill_out, out_of(fill, "Scalar_out"));
SB_OP(fill_Tensor, "aten::fill.Tensor(Tensor self, Tensor value) -> Tensor");
SB_OP(fill_Tensor_out, out_of(fill_Tensor, "Tensor_out"));
SB_OP(zero, "aten::zero(Tensor self) -> Tensor");
SB_OP(zero_out, out_of(zero, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_SCATTER_VIEWS_H_
