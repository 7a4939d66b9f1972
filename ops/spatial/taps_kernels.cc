#include "switchboard/ops/spatial/taps_kernels.h"

namespace sb::spatial {
namespace {

// For counts of taps that are common: the inner loop is unrolled.
template <int taps, class T>
void across_single(const AcrossRow<T>& r) {
  T* const __restrict to = r.to;
  for (int64_t x = 0; x < r.outputs; ++x) {
    T sum = T(0);
    for (int k = 0; k < taps; ++k)
      sum += r.weight[k * r.outputs + x] * r.from[r.index[k * r.outputs + x]];
    to[x] = sum;
  }
}

template <class T>
void across_any(const AcrossRow<T>& r) {
  T* const __restrict to = r.to;
  for (int64_t x = 0; x < r.outputs; ++x) to[x] = T(0);
  for (int64_t k = 0; k < r.taps; ++k) {
    const T* const weight = r.weight + k * r.outputs;
    const int32_t* const index = r.index + k * r.outputs;
    for (int64_t x = 0; x < r.outputs; ++x) to[x] += weight[x] * r.from[index[x]];
  }
}

template <int taps, class T>
void down_fixed(const T* const* rows, const T* weight, T* to, int64_t n) {
  const T* row[taps];
  for (int k = 0; k < taps; ++k) row[k] = rows[k];
  T* const __restrict result = to;
  for (int64_t x = 0; x < n; ++x) {
    T sum = T(0);
    for (int k = 0; k < taps; ++k) sum += weight[k] * row[k][x];
    result[x] = sum;
  }
}

template <class T>
void down(const DownRows<T>& r) {
  switch (r.taps) {
    case 1:
      return down_fixed<1>(r.rows, r.weight, r.to, r.n);
    case 2:
      return down_fixed<2>(r.rows, r.weight, r.to, r.n);
    case 4:
      return down_fixed<4>(r.rows, r.weight, r.to, r.n);
    default:
      break;
  }
  T* const __restrict to = r.to;
  for (int64_t x = 0; x < r.n; ++x) to[x] = T(0);
  for (int64_t k = 0; k < r.taps; ++k) {
    const T weight = r.weight[k];
    const T* const row = r.rows[k];
    for (int64_t x = 0; x < r.n; ++x) to[x] += weight * row[x];
  }
}

// The taps of one output that are summed in one pass.
constexpr int64_t kMostRows = 16;

template <class T>
void across(const AcrossRow<T>& r) {
  if (r.inner == 1) {
    if (r.taps == 2) return across_single<2>(r);
    if (r.taps == 4) return across_single<4>(r);
    return across_any(r);
  }
  for (int64_t x = 0; x < r.outputs; ++x) {
    T* const __restrict to = r.to + x * r.inner;
    if (r.taps <= kMostRows) {
      const T* rows[kMostRows];
      T weights[kMostRows];
      for (int64_t k = 0; k < r.taps; ++k) {
        rows[k] = r.from + r.index[k * r.outputs + x];
        weights[k] = r.weight[k * r.outputs + x];
      }
      down<T>({rows, weights, r.taps, to, r.inner});
      continue;
    }
    for (int64_t c = 0; c < r.inner; ++c) to[c] = T(0);
    for (int64_t k = 0; k < r.taps; ++k) {
      const T weight = r.weight[k * r.outputs + x];
      const T* const from = r.from + r.index[k * r.outputs + x];
      for (int64_t c = 0; c < r.inner; ++c) to[c] += weight * from[c];
    }
  }
}

}  // namespace

SB_CPU_KERNEL(InterpolationKernels<float>, interpolation_kernels_float,
              {&across<float>, &down<float>});
SB_CPU_KERNEL(InterpolationKernels<double>, interpolation_kernels_double,
              {&across<double>, &down<double>});

}  // namespace sb::spatial
