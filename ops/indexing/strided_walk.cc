#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {

DimVector broadcast_byte_strides(const Tensor& t, IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  const size_t lead = sizes.size() - t.sizes().size();
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    // Where there is no next element the stride may be any number, which is not to overflow here.
    if (t.sizes()[d] <= 1) continue;
    strides[lead + d] = static_cast<int64_t>(static_cast<uint64_t>(t.strides()[d]) * t.itemsize());
  }
  return strides;
}

}  // namespace sb
