#include "switchboard/ops/indexing/offsets.h"

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {

Tensor flat_offsets(const char* op, const Tensor& self, const Tensor& index) {
  const int64_t size = self.numel();
  check_indices<IndexError>(op, index, -size, size);
  const Tensor offsets = cast_copy(index, DType::Int64);
  const DimVector strides = broadcast_byte_strides(self, self.sizes());
  const bool flat = self.is_contiguous();
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  int64_t* const elements = offsets.data<int64_t>();
  for (int64_t i = 0; i < offsets.numel(); ++i) {
    int64_t at = elements[i] < 0 ? elements[i] + size : elements[i];
    if (flat) {
      elements[i] = at * itemsize;
      continue;
    }
    int64_t offset = 0;
    for (size_t d = strides.size(); d-- > 0;) {
      offset += at % self.sizes()[d] * strides[d];
      at /= self.sizes()[d];
    }
    elements[i] = offset;
  }
  return offsets;
}

IndexedWalk walk_offsets(const Tensor& table, const Tensor& offsets, const Tensor& other) {
  IndexedWalk walk;
  walk.sizes.assign(other.sizes().begin(), other.sizes().end());
  walk.table_strides.assign(walk.sizes.size(), 0);
  walk.index_strides = broadcast_byte_strides(offsets, other.sizes());
  walk.other_strides = broadcast_byte_strides(other, other.sizes());
  walk.table = static_cast<char*>(table.data_ptr());
  walk.index = static_cast<const int64_t*>(offsets.data_ptr());
  walk.other = static_cast<char*>(other.data_ptr());
  return walk;
}

}  // namespace sb
