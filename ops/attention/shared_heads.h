// Heads of key and value that several heads of query share.

#ifndef SWITCHBOARD_OPS_ATTENTION_SHARED_HEADS_H_
#define SWITCHBOARD_OPS_ATTENTION_SHARED_HEADS_H_

#include "switchboard/core/tensor.h"

namespace sb::internal {

// Key or value, (..., h, s, e), with its heads repeated, so that there are as many as of `query`;
// itself where there are. RuntimeError where there is no such number.
Tensor repeat_heads(const Tensor& t, const Tensor& query);
// What is added up where each of a key's heads was repeated: the sums have the heads of `like`.
Tensor sum_repeated_heads(const Tensor& t, const Tensor& like);

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_ATTENTION_SHARED_HEADS_H_
