// The list of indices of x[i, :, mask]: what may be in it, and what masks stand for.

#ifndef SWITCHBOARD_OPS_SHAPE_INDEX_LIST_H_
#define SWITCHBOARD_OPS_SHAPE_INDEX_LIST_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

inline bool is_mask(const Tensor& index) {
  return index.dtype() == DType::Bool || index.dtype() == DType::UInt8;
}

// Throws IndexError where there are more indices than dimensions, or one is of another dtype than
// int64, bool and uint8, or a mask has another shape than the dimensions that it stands for.
void check_index_list(const char* op, const Tensor& self, OptionalTensorList indices);
bool has_mask(OptionalTensorList indices);
// The indices with each mask replaced by one index tensor for each of its dimensions: the columns
// of `places(mask)`, which is [number of true elements, dimensions] as of nonzero.
std::vector<std::optional<Tensor>> expand_masks(
    OptionalTensorList indices, absl::FunctionRef<Tensor(const Tensor& mask)> places);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_INDEX_LIST_H_
