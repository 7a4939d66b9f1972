// The `reduction` that most losses take.

#ifndef SWITCHBOARD_OPS_LOSS_LOSS_SCHEMA_H_
#define SWITCHBOARD_OPS_LOSS_LOSS_SCHEMA_H_

#include <cstdint>
#include <string_view>

#include "switchboard/core/tensor.h"

namespace sb {

// As `at::Reduction`. Other numbers are as kReduceNone where an operator does not refuse them.
inline constexpr int64_t kReduceNone = 0;
inline constexpr int64_t kReduceMean = 1;
inline constexpr int64_t kReduceSum = 2;

// The loss, its mean or its sum, by mean and sum.
Tensor reduce_loss(const Tensor& loss, int64_t reduction);
// The same written to `out`, converted.
Tensor reduce_loss_out(const Tensor& loss, int64_t reduction, const Tensor& out);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_LOSS_SCHEMA_H_
