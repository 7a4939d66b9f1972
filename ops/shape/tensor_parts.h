// Lists of tensors as long as a caller asks for.

#ifndef SWITCHBOARD_OPS_SHAPE_TENSOR_PARTS_H_
#define SWITCHBOARD_OPS_SHAPE_TENSOR_PARTS_H_

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"

namespace sb {

// Room for the parts that a tensor is cut into. Throws RuntimeError, naming the operator, where
// they would not fit memory.
inline std::vector<Tensor> make_parts(const char* op, int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 24;  // whose tensors take 5 GB
  std::vector<Tensor> parts;
  try {
    if (count > kMost) throw std::bad_alloc();
    parts.reserve(static_cast<size_t>(count));
  } catch (const std::exception&) {
    SB_THROW(RuntimeError, op, ": not enough memory for ", count, " tensors");
  }
  return parts;
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_TENSOR_PARTS_H_
