// Collectives on tensors in memory, made of an engine's exchanges.
//
// Tensors are contiguous, on the CPU, and fit the call, which all ranks have agreed on: operators
// check that before (operators.cc).

#ifndef SWITCHBOARD_DISTRIBUTED_COLLECTIVES_H_
#define SWITCHBOARD_DISTRIBUTED_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>

#include "switchboard/core/tensor.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/reduce_op.h"

namespace sb {

// An all_reduce of at most so many bytes goes to everyone at once.
inline constexpr size_t kSmallAllReduceBytes = 4096;

// Whether the bytes go along with what ranks compare: see Call::agree().
inline bool goes_with_opening(int64_t bytes) {
  return bytes > 0 && static_cast<size_t>(bytes) <= Call::kOpeningData;
}
ConstBytes opening_data(const Tensor& data);
// Every rank's `data` becomes the reduction of all. Few bytes go to everyone at once, fewer have
// gone with agree(opening_data(data)); many are cut into a part for each rank, which reduces it and
// sends it to all: the bits are the same.
void run_all_reduce(const Call& call, ReduceOp op, const Tensor& data);
// `out` takes what each rank gives, in the order of ranks.
void run_all_gather(const Call& call, const Tensor& input, const Tensor& out);
// `input` has a part as large as `out` for each rank, which gets the reduction of its parts.
void run_reduce_scatter(const Call& call, ReduceOp op, const Tensor& input, const Tensor& out);
// Rows (of dimension 0) of `input` go to the ranks in order, so many to each, and those of `out`
// come from them. Throws DistError on all ranks where one sends more or fewer rows than another
// takes.
void run_all_to_all(const Call& call, const Tensor& input, IntArrayRef input_rows,
                    const Tensor& out, IntArrayRef output_rows);
// Every rank's `data` becomes that of the rank `src` of the group.
void run_broadcast(const Call& call, int64_t src, const Tensor& data);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_COLLECTIVES_H_
