// Optional tensors. An undefined tensor stands for one that is not given, too.

#ifndef SWITCHBOARD_OPS_SHAPE_OPTIONAL_TENSOR_H_
#define SWITCHBOARD_OPS_SHAPE_OPTIONAL_TENSOR_H_

#include <optional>

#include "switchboard/core/tensor.h"

namespace sb {

inline bool is_given(const std::optional<Tensor>& t) { return t && t->defined(); }

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_OPTIONAL_TENSOR_H_
