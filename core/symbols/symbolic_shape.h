// The shape of a tensor whose sizes are symbols.

#ifndef SWITCHBOARD_CORE_SYMBOLS_SYMBOLIC_SHAPE_H_
#define SWITCHBOARD_CORE_SYMBOLS_SYMBOLIC_SHAPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb {

using SymDimVector = absl::InlinedVector<SymInt, 5>;

// As many strides as sizes. At least one of all the numbers is symbolic.
struct SymbolicShape {
  SymDimVector sizes;
  SymDimVector strides;
  SymInt storage_offset = 0;
  SymInt numel = 0;
  bool settled = false;  // the tensor has numbers by now; whoever reads these reads them still
};

// The strides of a contiguous tensor of these sizes.
SymDimVector contiguous_strides(SymIntArrayRef sizes);

// Returns whether a tensor's elements lie one after the other, for all sizes, where its dimensions
// are taken in this order, fastest first. Records nothing.
bool is_known_dense(const SymbolicShape& shape, absl::Span<const size_t> order);
// The same for the order in which the numbers that the symbols stand for lie in memory.
bool is_known_dense(const SymbolicShape& shape, absl::Span<const int64_t> sizes,
                    absl::Span<const int64_t> strides);
// Returns whether they do for the sizes at hand: asks about sizes and strides, one by one, where
// that does not hold for all. Sizes that come from data count as neither 0 nor 1, and what they
// leave open counts as not dense.
bool is_dense(const SymbolicShape& shape, absl::Span<const size_t> order);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_SYMBOLIC_SHAPE_H_
