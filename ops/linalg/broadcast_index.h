// Batches of matrices that are broadcast.

#ifndef SWITCHBOARD_OPS_LINALG_BROADCAST_INDEX_H_
#define SWITCHBOARD_OPS_LINALG_BROADCAST_INDEX_H_

#include "switchboard/ops/shape/size_lists.h"

namespace sb {

// The index of each matrix of a batch of `sizes` in a batch that is broadcast to it.
class BroadcastIndex {
 public:
  BroadcastIndex(IntArrayRef batch, IntArrayRef sizes) : sizes_(sizes.begin(), sizes.end()) {
    steps_.resize(sizes.size(), 0);
    int64_t step = 1;
    for (size_t d = batch.size(); d-- > 0; step *= batch[d]) {
      if (batch[d] != 1) steps_[sizes.size() - batch.size() + d] = step;
    }
  }
  int64_t operator()(int64_t i) const {
    int64_t result = 0;
    for (size_t d = sizes_.size(); d-- > 0; i /= sizes_[d]) result += i % sizes_[d] * steps_[d];
    return result;
  }

 private:
  DimVector sizes_, steps_;
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_BROADCAST_INDEX_H_
