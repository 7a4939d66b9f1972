#include "switchboard/core/symbolic_shape.h"

namespace sb {

SymDimVector contiguous_strides(SymIntArrayRef sizes) {
  SymDimVector strides(sizes.size());
  SymInt stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    if (d != 0) stride *= sym_max(sizes[d], SymInt(1));
  }
  return strides;
}

}  // namespace sb
