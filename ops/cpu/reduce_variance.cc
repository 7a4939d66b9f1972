// Variance and standard deviation.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "Eigen/Core"
#include "switchboard/ops/cpu/reduce_loops.h"

// GCC 12 sees Eigen's vectorised loops read past an array of one element, which they never enter,
// and takes the undefined vectors of its own AVX-512 header for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace sb::internal {
namespace {

// Runs are taken by so many elements.
constexpr int64_t kBlock = 1024;

template <class T>
Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> column(const T* data, int64_t n) {
  return {data, n};
}

// The mean, the sum of the squared distances from it, and the count, which merge by Chan's
// formula. A run is taken block by block, each in two passes.
template <class E>
struct VarianceLoops {
  using A = std::conditional_t<Eigen::NumTraits<E>::IsComplex, std::complex<double>, double>;
  struct Accumulators {
    A* mean;
    double* squares;
    double* count;
    Accumulators(void* acc, int64_t n)
        : mean(static_cast<A*>(acc)),
          squares(reinterpret_cast<double*>(mean + n)),
          count(squares + n) {}
  };
  static constexpr int64_t kSize = sizeof(A) + 2 * sizeof(double);

  static void init(void* acc, int64_t n) { std::memset(acc, 0, static_cast<size_t>(n * kSize)); }
  static void merge(A* mean, double* squares, double* count, A other_mean, double other_squares,
                    double other_count) {
    if (other_count == 0) return;
    const double all = *count + other_count;
    const A apart = other_mean - *mean;
    *mean += apart * (other_count / all);
    *squares += other_squares + Eigen::numext::abs2(apart) * (*count * (other_count / all));
    *count = all;
  }
  static void fold_runs(void* acc, int64_t n, const ReduceRuns& runs, const ReduceParams&) {
    const Accumulators to(acc, n);
    for (int64_t r = 0; r < runs.count; ++r) {
      const E* const from = static_cast<const E*>(runs.elements) + r * runs.stride;
      const int64_t at = runs.first + r;
      for (int64_t i = 0; i < runs.length; i += kBlock) {
        const int64_t size = std::min(kBlock, runs.length - i);
        // Measured from the first, so that equal elements have a variance of exactly 0.
        const A first = static_cast<A>(from[i]);
        Eigen::Array<A, Eigen::Dynamic, 1, 0, kBlock, 1> x =
            column(from + i, size).template cast<A>() - first;
        const A mean = x.sum() / static_cast<double>(size);
        x -= mean;
        merge(to.mean + at, to.squares + at, to.count + at, first + mean, x.abs2().sum(),
              static_cast<double>(size));
      }
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    const Accumulators to(acc, n);
    Eigen::Map<Eigen::Array<A, Eigen::Dynamic, 1>> mean(to.mean, n);
    Eigen::Map<Eigen::Array<double, Eigen::Dynamic, 1>> squares(to.squares, n);
    for (int64_t r = 0; r < rows; ++r) {
      const double count = to.count[0] + static_cast<double>(r + 1);
      const Eigen::Array<A, Eigen::Dynamic, 1, 0, kReduceChunk, 1> x =
          column(static_cast<const E*>(elements) + r * row_stride, n).template cast<A>();
      // Welford's step.
      const Eigen::Array<A, Eigen::Dynamic, 1, 0, kReduceChunk, 1> apart = x - mean;
      mean += apart / A(count);
      if constexpr (Eigen::NumTraits<E>::IsComplex) {
        squares += (apart * (x - mean).conjugate()).real();
      } else {
        squares += apart * (x - mean);
      }
    }
    for (int64_t i = 0; i < n; ++i) to.count[i] += static_cast<double>(rows);
  }
  static void combine(void* acc, const void* other, int64_t n) {
    const Accumulators to(acc, n), from(const_cast<void*>(other), n);
    for (int64_t i = 0; i < n; ++i) {
      merge(to.mean + i, to.squares + i, to.count + i, from.mean[i], from.squares[i],
            from.count[i]);
    }
  }
};
template <class E, bool root>
struct Finished : VarianceLoops<E> {
  static void finish(const void* acc, int64_t n, double count, const ReduceParams& params,
                     void* results) {
    const typename VarianceLoops<E>::Accumulators from(const_cast<void*>(acc), n);
    const double divisor = std::max(0.0, count - params.correction);
    for (int64_t i = 0; i < n; ++i) {
      const double variance = from.squares[i] / divisor;
      static_cast<double*>(results)[i] = root ? std::sqrt(variance) : variance;
    }
  }
};

template <class E>
ReduceLoops of(Reduction kind, DType dtype) {
  constexpr int64_t kSize = VarianceLoops<E>::kSize;
  return kind == Reduction::Variance
             ? reduce_loops_of<Finished<E, false>>(dtype, DType::Float64, kSize)
             : reduce_loops_of<Finished<E, true>>(dtype, DType::Float64, kSize);
}
ReduceLoops loops(Reduction kind, DType dtype) {
  if (is_complex(dtype)) return of<std::complex<double>>(kind, DType::Complex128);
  if (dtype == DType::Float64) return of<double>(kind, DType::Float64);
  return of<float>(kind, DType::Float32);
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_variance_loops, &loops);

}  // namespace sb::internal
