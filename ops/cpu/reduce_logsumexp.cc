// log(sum(exp(x))).

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "Eigen/Core"
#include "switchboard/ops/cpu/reduce_loops.h"
#include "switchboard/ops/cpu/vector_math.h"

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

// The largest element so far, and the sum of exp(x - largest).
template <class E>
struct LogSumExpLoops {
  static constexpr int64_t kSize = sizeof(E) + sizeof(double);
  struct Accumulators {
    double* sum;
    E* largest;
    Accumulators(void* acc, int64_t n)
        : sum(static_cast<double*>(acc)), largest(reinterpret_cast<E*>(sum + n)) {}
  };

  // Rounded as a float is: libmvec's own function of floats is less exact than PyTorch's.
  template <class X>
  static X exp(const X& x) {
    if constexpr (std::is_same_v<E, float>) {
      const auto wide = x.template cast<double>().eval();
      // In two steps: Eigen does not vectorise a cast of what exp gives.
      return vec::exp(wide).eval().template cast<float>();
    } else {
      return vec::exp(x);
    }
  }
  // What to subtract: not an infinity, of which the difference is NaN.
  static E pivot(E largest) {
    return std::abs(largest) <= std::numeric_limits<E>::max() ? largest : E(0);
  }

  static void init(void* acc, int64_t n) {
    const Accumulators to(acc, n);
    std::fill_n(to.sum, n, 0.0);
    std::fill_n(to.largest, n, -std::numeric_limits<E>::infinity());
  }
  static void merge(double* sum, E* largest, double other_sum, E other_largest) {
    if (other_largest == -std::numeric_limits<E>::infinity()) return;
    const E both = std::isnan(*largest) || *largest > other_largest ? *largest : other_largest;
    const auto scaled = [&](double s, E from) {
      return s == 0 ? 0
                    : s * std::exp(static_cast<double>(pivot(from)) -
                                   static_cast<double>(pivot(both)));
    };
    *sum = scaled(*sum, *largest) + scaled(other_sum, other_largest);
    *largest = both;
  }
  static void fold_runs(void* acc, int64_t n, const ReduceRuns& runs, const ReduceParams&) {
    const Accumulators to(acc, n);
    for (int64_t r = 0; r < runs.count; ++r) {
      const E* const from = static_cast<const E*>(runs.elements) + r * runs.stride;
      const int64_t at = runs.first + r;
      for (int64_t i = 0; i < runs.length; i += kBlock) {
        const int64_t size = std::min(kBlock, runs.length - i);
        Eigen::Array<E, Eigen::Dynamic, 1, 0, kBlock, 1> x = column(from + i, size);
        const E largest = x.template maxCoeff<Eigen::PropagateNaN>();
        x -= pivot(largest);
        x = exp(x);
        merge(to.sum + at, to.largest + at, x.template cast<double>().sum(), largest);
      }
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    using Row = Eigen::Array<E, Eigen::Dynamic, 1, 0, kReduceChunk, 1>;
    using Sums = Eigen::Array<double, Eigen::Dynamic, 1, 0, kReduceChunk, 1>;
    const Accumulators to(acc, n);
    const E* const x = static_cast<const E*>(elements);
    const auto row = [&](int64_t r) { return Eigen::Map<const Row>(x + r * row_stride, n); };
    constexpr int64_t kRows = 16;
    for (int64_t r = 0; r < rows; r += kRows) {
      const int64_t end = std::min(rows, r + kRows);
      Row largest = row(r);
      for (int64_t i = r + 1; i < end; ++i) {
        using Larger = Eigen::internal::scalar_max_op<E, E, Eigen::PropagateNaN>;
        largest = largest.binaryExpr(row(i), Larger()).eval();
      }
      const Row pivots = largest.unaryExpr([](E m) { return pivot(m); });
      Sums sum = Sums::Zero(n);
      for (int64_t i = r; i < end; ++i) {
        const Row e = exp((row(i) - pivots).eval());
        sum += e.template cast<double>();
      }
      for (int64_t i = 0; i < n; ++i) {
        merge(to.sum + i, to.largest + i, sum[i], largest[i]);
      }
    }
  }
  static void combine(void* acc, const void* other, int64_t n) {
    const Accumulators to(acc, n), from(const_cast<void*>(other), n);
    for (int64_t i = 0; i < n; ++i) {
      merge(to.sum + i, to.largest + i, from.sum[i], from.largest[i]);
    }
  }
  static void finish(const void* acc, int64_t n, double, const ReduceParams&, void* results) {
    const Accumulators from(const_cast<void*>(acc), n);
    for (int64_t i = 0; i < n; ++i) {
      static_cast<double*>(results)[i] =
          static_cast<double>(pivot(from.largest[i])) + std::log(from.sum[i]);
    }
  }
};

template <class E>
ReduceLoops of(DType dtype) {
  return reduce_loops_of<LogSumExpLoops<E>>(dtype, DType::Float64, LogSumExpLoops<E>::kSize);
}
ReduceLoops loops(Reduction, DType dtype) {
  return dtype == DType::Float64 ? of<double>(dtype) : of<float>(DType::Float32);
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_logsumexp_loops, &loops);

}  // namespace sb::internal
