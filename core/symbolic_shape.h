// The shape of a tensor whose sizes are symbols.

#ifndef SWITCHBOARD_CORE_SYMBOLIC_SHAPE_H_
#define SWITCHBOARD_CORE_SYMBOLIC_SHAPE_H_

#include "absl/container/inlined_vector.h"
#include "switchboard/core/sym_int.h"

namespace sb {

using SymDimVector = absl::InlinedVector<SymInt, 5>;

// As many strides as sizes. At least one of all the numbers is symbolic.
struct SymbolicShape {
  SymDimVector sizes;
  SymDimVector strides;
  SymInt storage_offset = 0;
  SymInt numel = 0;
};

// The strides of a contiguous tensor of these sizes.
SymDimVector contiguous_strides(SymIntArrayRef sizes);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLIC_SHAPE_H_
