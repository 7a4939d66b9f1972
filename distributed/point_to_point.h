// Tensors from one rank to another.

#ifndef SWITCHBOARD_DISTRIBUTED_POINT_TO_POINT_H_
#define SWITCHBOARD_DISTRIBUTED_POINT_TO_POINT_H_

#include <cstdint>

#include "switchboard/core/tensor.h"
#include "switchboard/distributed/call.h"

namespace sb {

// Both take contiguous tensors on the CPU, and ranks of the call's group. A message says what it
// is: receiving another dtype or other sizes than were sent throws DistError that names both calls.
void send_tensor(const Call& call, const Tensor& tensor, int64_t to, int64_t tag);
void receive_tensor(const Call& call, const Tensor& tensor, int64_t from, int64_t tag);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_POINT_TO_POINT_H_
