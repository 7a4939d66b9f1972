// The gradient of what picks elements along a dimension: selections, sorts.

#ifndef SWITCHBOARD_OPS_SORTING_DERIVATIVES_SELECTED_GRADIENT_H_
#define SWITCHBOARD_OPS_SORTING_DERIVATIVES_SELECTED_GRADIENT_H_

#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/views/views.h"

namespace sb {

// Zeros of these sizes, with grad's elements where `indices` say. Of those, no two are equal in a
// row along `dim`. As value_selecting_reduction_backward.
inline Tensor selected_gradient(const Tensor& grad, int64_t dim, const Tensor& indices,
                                SymIntArrayRef sizes, bool keepdim) {
  const Tensor zeros = new_zeros(grad, sizes);
  if (keepdim || sizes.empty()) return scatter_(zeros, dim, indices, grad);
  return scatter_(zeros, dim, unsqueeze(indices, dim), unsqueeze(grad, dim));
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_DERIVATIVES_SELECTED_GRADIENT_H_
