// The loops of fused attention over a row: the scores of one query against a block of keys.

#ifndef SWITCHBOARD_OPS_ATTENTION_FLASH_KERNELS_H_
#define SWITCHBOARD_OPS_ATTENTION_FLASH_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::internal {

// What is known of a query after some blocks of keys: weights are exp(score - largest), `sum` is
// their sum, and `output` the values summed by these weights.
template <class T>
struct FlashRow {
  T* output;
  int64_t width;
  T* largest;  // -infinity before the first block
  T* sum;
};

template <class T>
struct FlashKernels {
  // Makes `n` scores weights and counts them in `row`, whose output it scales to fit: the caller
  // adds the values. `mask` is added to the scores, unless it is nullptr; those from `seen` on do
  // not count. A NaN stays, as in PyTorch.
  void (*weigh)(T* scores, const T* mask, int64_t n, int64_t seen, const FlashRow<T>& row);
  // out = output / sum; of a query that may look at nothing, 0. Returns the logarithm of the sum of
  // exponentials.
  T (*finish)(const FlashRow<T>& row, T* out);
};

extern const CpuKernel<FlashKernels<float>> flash_kernels_float;
extern const CpuKernel<FlashKernels<double>> flash_kernels_double;

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_ATTENTION_FLASH_KERNELS_H_
