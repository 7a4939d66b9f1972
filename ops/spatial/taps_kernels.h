// The arithmetic of interpolation, row by row: across a row of inputs, and down over rows.

#ifndef SWITCHBOARD_OPS_SPATIAL_TAPS_KERNELS_H_
#define SWITCHBOARD_OPS_SPATIAL_TAPS_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::spatial {

// to[x, c] = the sum over k of weight[k * outputs + x] * from[index[k * outputs + x] + c].
template <class T>
struct AcrossRow {
  const T* from;
  T* to;
  const int32_t* index;  // in elements
  const T* weight;
  int64_t taps;  // at least 1
  int64_t outputs;
  int64_t inner;  // the numbers of c
};

// to[x] = the sum over k of weight[k] * rows[k][x], for n numbers.
template <class T>
struct DownRows {
  const T* const* rows;
  const T* weight;
  int64_t taps;  // at least 1
  T* to;
  int64_t n;
};

template <class T>
struct InterpolationKernels {
  void (*across)(const AcrossRow<T>&);
  void (*down)(const DownRows<T>&);
};
extern const CpuKernel<InterpolationKernels<float>> interpolation_kernels_float;
extern const CpuKernel<InterpolationKernels<double>> interpolation_kernels_double;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_TAPS_KERNELS_H_
