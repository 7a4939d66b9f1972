#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {

DimVector broadcast_byte_strides(const Tensor& t, IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  const size_t lead = sizes.size() - t.sizes().size();
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    // The stride of a dimension of one element may be any number; it is never used.
    if (t.sizes()[d] == 1) continue;
    strides[lead + d] = t.strides()[d] * static_cast<int64_t>(t.itemsize());
  }
  return strides;
}

}  // namespace sb
