// The innermost loops of reductions. Only for reduce.cc.

#ifndef SWITCHBOARD_OPS_REDUCE_LOOPS_H_
#define SWITCHBOARD_OPS_REDUCE_LOOPS_H_

#include <cstdint>

#include "switchboard/core/dtype.h"
#include "switchboard/ops/cpu_kernel.h"
#include "switchboard/ops/reduction.h"

namespace sb::internal {

// At most so many accumulators are worked on at once.
inline constexpr int64_t kReduceChunk = 512;

// Loops over elements of one dtype, into n accumulators of the loops' own making. The memory of
// accumulators is aligned to 64 bytes.
struct ReduceLoops {
  DType element;
  DType result;
  int64_t accumulator_size;  // bytes each
  // Sets n accumulators to what reducing nothing gives.
  void (*init)(void* acc, int64_t n);
  // Folds `length` adjacent elements into one accumulator.
  void (*fold_run)(void* acc, const void* elements, int64_t length, const ReduceParams& params);
  // Folds `rows` rows of n adjacent elements into n accumulators: element i of each into the i-th.
  // `row_stride` is in elements.
  void (*fold_rows)(void* acc, const void* elements, int64_t n, int64_t row_stride, int64_t rows,
                    const ReduceParams& params);
  // Folds n accumulators into n others.
  void (*combine)(void* acc, const void* other, int64_t n);
  // Writes the results of n accumulators, which `count` elements each went into.
  void (*finish)(const void* acc, int64_t n, double count, const ReduceParams& params,
                 void* results);
};

// The loops for elements that were converted to `dtype`.
using ReduceLoopsFunction = ReduceLoops (*)(Reduction kind, DType dtype);
extern const CpuKernel<ReduceLoopsFunction> reduce_loops;

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_REDUCE_LOOPS_H_
