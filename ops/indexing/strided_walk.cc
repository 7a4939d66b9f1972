#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {

DimVector broadcast_byte_strides(const Tensor& t, IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  const size_t lead = sizes.size() - t.sizes().size();
  for (size_t d = 0; d < t.sizes().size(); ++d) strides[lead + d] = byte_stride(t, d);
  return strides;
}

}  // namespace sb
