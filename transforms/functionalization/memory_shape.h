// Where the elements of a tensor lie in its storage.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_MEMORY_SHAPE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_MEMORY_SHAPE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/shape/dims.h"

namespace sb::internal {

struct MemoryShape {
  DimVector sizes;
  DimVector strides;
  int64_t offset = 0;
  size_t bytes = 0;  // of its storage

  explicit MemoryShape(const Tensor& t)
      : sizes(t.sizes().begin(), t.sizes().end()),
        strides(t.strides().begin(), t.strides().end()),
        offset(t.storage_offset()),
        bytes(t.storage()->nbytes()) {}
  int64_t numel() const { return sb::checked_numel(sizes); }
  bool operator==(const MemoryShape&) const = default;

  // As an out= operator resizes.
  void resize(IntArrayRef to, size_t itemsize) {
    sizes.assign(to.begin(), to.end());
    strides.resize(to.size());
    int64_t stride = 1;
    bool any = true;
    for (size_t d = to.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= std::max<int64_t>(to[d], 1);
      any = any && to[d] > 0;
    }
    if (any) bytes = std::max(bytes, static_cast<size_t>(offset + stride) * itemsize);
  }
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_MEMORY_SHAPE_H_
