#include "switchboard/ops/indexing/along_dim.h"

#include <algorithm>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {
namespace {

DimVector sizes_of(const Tensor& t) {
  return t.dim() == 0 ? DimVector{1} : DimVector(t.sizes().begin(), t.sizes().end());
}
DimVector byte_strides_of(const Tensor& t) {
  return t.dim() == 0 ? DimVector{0} : broadcast_byte_strides(t, t.sizes());
}

}  // namespace

Tensor as_int64(const Tensor& index) {
  return index.dtype() == DType::Int64 ? index : cast_copy(index, DType::Int64);
}

std::pair<int64_t, int64_t> index_bounds(const Tensor& index) {
  // An expanded dimension holds nothing new.
  DimVector sizes(index.sizes().begin(), index.sizes().end());
  const DimVector strides = broadcast_byte_strides(index, index.sizes());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0) sizes[d] = 1;
  }
  int64_t smallest = INT64_MAX, largest = INT64_MIN;
  strided_walk<1>(
      sizes, {strides}, {static_cast<char*>(index.data_ptr())},
      [&](const std::array<char*, 1>& at, const std::array<int64_t, 1>& stride, int64_t n) {
        const char* p = at[0];
        for (int64_t i = 0; i < n; ++i, p += stride[0]) {
          const int64_t v = *reinterpret_cast<const int64_t*>(p);
          smallest = std::min(smallest, v);
          largest = std::max(largest, v);
        }
      });
  return {smallest, largest};
}

IndexedWalk walk_along(const Tensor& table, int64_t dim, const Tensor& index, IndexShape shape,
                       const Tensor& other) {
  const size_t d = static_cast<size_t>(dim);
  IndexedWalk walk;
  walk.table_strides = byte_strides_of(table);
  walk.other_strides = byte_strides_of(other);
  // Where the table has one place, the stride of the dimension may be any number.
  walk.step = std::exchange(walk.table_strides[d], 0);
  if (shape == IndexShape::Full) {
    walk.sizes = sizes_of(index);
    walk.index_strides = byte_strides_of(index);
  } else {
    walk.sizes = sizes_of(other);
    walk.index_strides.assign(walk.sizes.size(), 0);
    walk.index_strides[d] = byte_strides_of(index)[0];
  }
  walk.table = static_cast<char*>(table.data_ptr());
  walk.index = static_cast<const int64_t*>(index.data_ptr());
  walk.other = static_cast<char*>(other.data_ptr());
  return walk;
}

}  // namespace sb
