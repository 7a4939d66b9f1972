// The innermost loops of reductions. Only for reduce.cc.

#ifndef SWITCHBOARD_OPS_REDUCE_LOOPS_H_
#define SWITCHBOARD_OPS_REDUCE_LOOPS_H_

#include <cstdint>

#include "switchboard/core/dtype.h"
#include "switchboard/ops/reduce.h"

namespace sb::internal {

// At most so many elements are given to a loop at once.
inline constexpr int64_t kReduceChunk = 512;

// Loops over elements of one dtype, into accumulators of another.
struct ReduceLoops {
  DType element;
  DType accumulator;
  // Sets n accumulators to what reducing nothing gives.
  void (*init)(void* acc, int64_t n);
  // Folds n elements into one accumulator; n elements into n accumulators. Strides in bytes.
  void (*fold_run)(void* acc, const char* elements, int64_t stride, int64_t n);
  void (*fold_row)(void* acc, const char* elements, int64_t stride, int64_t n);
  // Divides n accumulators by a count: of Mean only.
  void (*divide)(void* acc, int64_t n, double count);
};

// The loops for elements that were converted to `dtype`.
ReduceLoops reduce_loops(Reduction kind, DType dtype);

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_REDUCE_LOOPS_H_
