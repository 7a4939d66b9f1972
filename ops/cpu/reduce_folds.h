// Reductions of elements by an operation that is not addition, into accumulators of their own type.
// For files of cpu_kernels.

#ifndef SWITCHBOARD_OPS_CPU_REDUCE_FOLDS_H_
#define SWITCHBOARD_OPS_CPU_REDUCE_FOLDS_H_

#include <algorithm>
#include <limits>

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

struct Multiply {
  template <class T>
  static T identity() {
    return T(1);
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    return a * b;
  }
};
// Of each two elements the larger or the smaller; NaN is both.
struct Largest {
  template <class T>
  static T identity() {
    return -std::numeric_limits<T>::infinity();
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    using T = typename A::Scalar;
    return a.binaryExpr(b, Eigen::internal::scalar_max_op<T, T, Eigen::PropagateNaN>());
  }
};
struct Smallest {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::infinity();
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    using T = typename A::Scalar;
    return a.binaryExpr(b, Eigen::internal::scalar_min_op<T, T, Eigen::PropagateNaN>());
  }
};

template <class E, class Fold>
struct FoldLoops {
  static constexpr int64_t kSize = sizeof(E);
  // A run is folded into this many accumulators side by side.
  static constexpr int64_t kLanes = 64;
  using Lanes = Eigen::Array<E, kLanes, 1>;
  // Arrays of at most a chunk need no memory from the heap.
  using Some = Eigen::Array<E, Eigen::Dynamic, 1, 0, kReduceChunk, 1>;

  static void init(void* acc, int64_t n) {
    std::fill_n(static_cast<E*>(acc), n, Fold::template identity<E>());
  }
  static void fold_runs(void* acc, int64_t, const ReduceRuns& runs, const ReduceParams&) {
    for (int64_t r = 0; r < runs.count; ++r) {
      fold_run(static_cast<E*>(acc) + runs.first + r,
               static_cast<const E*>(runs.elements) + r * runs.stride, runs.length);
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    const auto row = [&](int64_t r) {
      return Eigen::Map<const Some>(static_cast<const E*>(elements) + r * row_stride, n);
    };
    Eigen::Map<Some> to(static_cast<E*>(acc), n);
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      to = Fold::fold(
          to, Fold::fold(Fold::fold(row(r), row(r + 1)), Fold::fold(row(r + 2), row(r + 3))));
    }
    for (; r < rows; ++r) to = Fold::fold(to, row(r));
  }
  static void combine(void* acc, const void* other, int64_t n) {
    Eigen::Map<Some> to(static_cast<E*>(acc), n);
    to = Fold::fold(to, Eigen::Map<const Some>(static_cast<const E*>(other), n));
  }
  static void finish(const void* acc, int64_t n, double, const ReduceParams&, void* results) {
    std::copy_n(static_cast<const E*>(acc), n, static_cast<E*>(results));
  }

 private:
  static void fold_run(E* acc, const E* x, int64_t n) {
    Lanes lanes = Lanes::Constant(Fold::template identity<E>());
    const auto part = [&](int64_t i) { return Eigen::Map<const Lanes>(x + i); };
    int64_t i = 0;
    // By fours: lanes wait for each other less.
    for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
      lanes = Fold::fold(lanes, Fold::fold(Fold::fold(part(i), part(i + kLanes)),
                                           Fold::fold(part(i + 2 * kLanes), part(i + 3 * kLanes))));
    }
    for (; i + kLanes <= n; i += kLanes) lanes = Fold::fold(lanes, part(i));
    for (int64_t k = 0; i < n; ++i, ++k) fold_one(lanes[k], x[i]);
    for (int64_t k = 0; k < std::min(n, kLanes); ++k) fold_one(*acc, lanes[k]);
  }
  static void fold_one(E& to, const E& x) {
    using One = Eigen::Array<E, 1, 1>;
    to = Fold::fold(One(to), One(x))(0);
  }
};

}  // namespace
}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_CPU_REDUCE_FOLDS_H_
