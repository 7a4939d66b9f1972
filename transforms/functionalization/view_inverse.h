// What a write to a view makes of the tensor that is viewed.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_VIEW_INVERSE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_VIEW_INVERSE_H_

#include <functional>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/transforms/functionalization/view_chain.h"

namespace sb {

// `base` as it is after its view, which `step` makes, was overwritten with `view`, which has the
// view's shape and dtype. It must call no operator that mutates, and give a tensor of the base's
// shape and dtype, which shares no memory with `view`, or is a view of all of it.
using ViewInverse =
    std::function<Tensor(const ViewStep& step, const Tensor& base, const Tensor& view)>;

// Says how a write through an operator's views is undone, for functionalisation. An operator
// without one has the general inverse: slower, and right for every view that keeps the dtype.
//
//   register_view_inverse(window, [](const ViewStep& step, const Tensor& base, const Tensor& view)
//   {
//     return slice_scatter(base, view, 0, step.arguments[1].to_int(), std::nullopt, 1);
//   }).release();
//
// ValueError if the operator's schema gives no views, RuntimeError if it has an inverse already.
// Thread-safe.
RegistrationHandle register_view_inverse(const OperatorHandle& op, ViewInverse inverse);

namespace internal {
// Whether every element of `part` is one of `of`, both of one memory. With symbols, whether that is
// known.
bool is_part(const Tensor& part, const Tensor& of);
// Whether a custom operator without an inverse of its own gave a view with elements of the memory
// that the tensor it viewed has not. Not asked of symbols.
bool reaches_beyond(const OperatorHandle& op, const Tensor& viewed, const Tensor& view);
// The inverse of the operator, or the general one.
Tensor invert_view(const ViewStep& step, const Tensor& base, const Tensor& view);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_VIEW_INVERSE_H_
