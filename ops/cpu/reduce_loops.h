// The innermost loops of reductions. Only for reduce.cc and the files that hold them.

#ifndef SWITCHBOARD_OPS_CPU_REDUCE_LOOPS_H_
#define SWITCHBOARD_OPS_CPU_REDUCE_LOOPS_H_

#include <cstdint>

#include "switchboard/core/dtype.h"
#include "switchboard/ops/cpu/cpu_kernel.h"
#include "switchboard/ops/cpu/reduction.h"

namespace sb::internal {

// At most so many accumulators are worked on at once.
inline constexpr int64_t kReduceChunk = 512;

// Runs of `length` adjacent elements each, `stride` elements from one to the next, which go into
// the accumulators first, first + 1, ...
struct ReduceRuns {
  const void* elements;
  int64_t length;
  int64_t count = 1;
  int64_t stride = 0;
  int64_t first = 0;
};

// Loops over elements of one dtype, into n accumulators of the loops' own making. The memory of
// accumulators is aligned to 64 bytes.
struct ReduceLoops {
  DType element;
  DType result;
  int64_t accumulator_size;  // bytes each
  // Sets n accumulators to what reducing nothing gives.
  void (*init)(void* acc, int64_t n);
  // Folds each run into its accumulator.
  void (*fold_runs)(void* acc, int64_t n, const ReduceRuns& runs, const ReduceParams& params);
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

// The loops for elements of `dtype`. They may take, and give, elements of a wider one.
ReduceLoops reduce_loops(Reduction kind, DType dtype);

// What that chooses from. Each knows the kinds that its file is about.
using ReduceLoopsFunction = ReduceLoops (*)(Reduction kind, DType dtype);
extern const CpuKernel<ReduceLoopsFunction> reduce_sum_loops;
extern const CpuKernel<ReduceLoopsFunction> reduce_norm_loops;
extern const CpuKernel<ReduceLoopsFunction> reduce_fold_loops;
extern const CpuKernel<ReduceLoopsFunction> reduce_integer_loops;
extern const CpuKernel<ReduceLoopsFunction> reduce_variance_loops;
extern const CpuKernel<ReduceLoopsFunction> reduce_logsumexp_loops;
ReduceLoops reduce_truth_loops(Reduction kind);

// The table of the class L, which has these as static functions.
template <class L>
ReduceLoops reduce_loops_of(DType element, DType result, int64_t accumulator_size) {
  return {element,      result,       accumulator_size, L::init,
          L::fold_runs, L::fold_rows, L::combine,       L::finish};
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_CPU_REDUCE_LOOPS_H_
