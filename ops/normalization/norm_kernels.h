// The loops of softmax and of the normalisations, over adjacent elements of float or double. Sums
// are taken 64 lanes side by side, in double beyond blocks of 1024.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_NORM_KERNELS_H_
#define SWITCHBOARD_OPS_NORMALIZATION_NORM_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::internal {

// Loops over `columns` take at most so many at once.
inline constexpr int64_t kNormColumns = 256;

template <class T>
struct NormKernels {
  // out = softmax(x), or its logarithm.
  void (*softmax)(T* out, const T* x, int64_t n, bool log);
  // The same along the rows of a block of `columns` adjacent columns, `stride` apart.
  void (*softmax_columns)(T* out, const T* x, int64_t rows, int64_t columns, int64_t stride,
                          bool log);
  void (*softmax_backward)(T* grad_input, const T* grad, const T* y, int64_t n, bool log);
  void (*softmax_backward_columns)(T* grad_input, const T* grad, const T* y, int64_t rows,
                                   int64_t columns, int64_t stride, bool log);
  // The mean of n elements and their mean squared distance from it.
  void (*moments)(const T* x, int64_t n, double* mean, double* variance);
  // out = (x - mean) * rstd * weight + bias; weight and bias may be nullptr.
  void (*layer_norm)(T* out, const T* x, int64_t n, T mean, T rstd, const T* weight, const T* bias);
  void (*layer_norm_backward)(T* grad_input, const T* grad, const T* x, int64_t n, T mean, T rstd,
                              const T* weight);
  // out = (x - mean) * a + b, with one factor for all elements or one for each.
  void (*affine)(T* out, const T* x, int64_t n, T mean, T a, T b);
  void (*affine_each)(T* out, const T* x, int64_t n, const T* mean, const T* a, const T* b);
  // out = a * x + b * y + c.
  void (*affine2)(T* out, const T* x, const T* y, int64_t n, T a, T b, T c);
  void (*affine2_each)(T* out, const T* x, const T* y, int64_t n, const T* a, const T* b,
                       const T* c);
  // Adds to sums[0] and sums[1] those of g and of g * (x - shift).
  void (*sum_pairs)(const T* g, const T* x, int64_t n, T shift, double* sums);
  // The same of each column: sums + i and products + i; the shift is one for each column, or
  // (shift_of_row) one for each row, whose products are also scaled.
  void (*sum_pair_columns)(const T* g, const T* x, int64_t rows, int64_t columns, int64_t stride,
                           const T* shift, double* sums, double* products);
  void (*sum_pair_columns_by_row)(const T* g, const T* x, int64_t rows, int64_t columns,
                                  int64_t stride, const T* shift, const T* scale, double* sums,
                                  double* products);
};

extern const CpuKernel<NormKernels<float>> norm_kernels_float;
extern const CpuKernel<NormKernels<double>> norm_kernels_double;

template <class T>
const NormKernels<T>& norm_kernels() {
  if constexpr (sizeof(T) == sizeof(float))
    return *norm_kernels_float;
  else
    return *norm_kernels_double;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_NORMALIZATION_NORM_KERNELS_H_
