// The functional forms of writing to a view, or to all of a tensor: a new tensor that is as `self`
// would be after the write. What functionalisation puts in the place of mutations.

#ifndef SWITCHBOARD_OPS_VIEWS_SCATTER_VIEWS_H_
#define SWITCHBOARD_OPS_VIEWS_SCATTER_VIEWS_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// `self` with the elements of `src` where slice, select or as_strided would look. `src` has the
// shape of that view and is converted to self's dtype. Throw what the view does, and RuntimeError
// where the shape differs. The result has self's strides, gaps and all.
SB_STRUCTURED_NO_INPLACE(
    slice_scatter,
    "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
    "SymInt? end=None, SymInt step=1) -> Tensor",
    "out");
SB_STRUCTURED_NO_INPLACE(
    select_scatter,
    "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", "out");
// The offset counts from where self's storage starts; the result has self's offset.
SB_STRUCTURED_NO_INPLACE(
    as_strided_scatter,
    "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor",
    "out");

// What copy_, fill_ and zero_ would make of `self`. copy gives a tensor with self's dtype, device
// and strides, never `src` itself.
SB_STRUCTURED_NO_INPLACE(copy,
                         "aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(fill, "aten::fill.Scalar(Tensor self, Scalar value) -> Tensor",
                         "Scalar_out");
SB_STRUCTURED_NO_INPLACE(fill_Tensor, "aten::fill.Tensor(Tensor self, Tensor value) -> Tensor",
                         "Tensor_out");
SB_STRUCTURED_NO_INPLACE(zero, "aten::zero(Tensor self) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_VIEWS_SCATTER_VIEWS_H_
