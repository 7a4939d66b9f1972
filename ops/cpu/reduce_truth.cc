// Any, all, and how many are true. Elements are bytes that are true if they are not 0.

#include <algorithm>
#include <cstring>

#include "switchboard/ops/cpu/reduce_loops.h"

namespace sb::internal {
namespace {

// 1 in each byte of eight that is not 0, else 0.
uint64_t truth_of_eight(const uint8_t* x) {
  uint64_t eight;
  std::memcpy(&eight, x, 8);
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  // The highest bit of each byte: set, or carried into from below.
  return (((eight & kLow) + kLow) | eight) >> 7 & 0x0101010101010101;
}

struct AnyTrue {
  static constexpr int64_t identity = 0;
  static int64_t fold(int64_t a, int64_t b) { return a | b; }
  static int64_t of_eight(const uint8_t* x) {
    uint64_t eight;
    std::memcpy(&eight, x, 8);
    return eight != 0;
  }
};
struct AllTrue {
  static constexpr int64_t identity = 1;
  static int64_t fold(int64_t a, int64_t b) { return a & b; }
  static int64_t of_eight(const uint8_t* x) { return truth_of_eight(x) == 0x0101010101010101; }
};
struct CountTrue {
  static constexpr int64_t identity = 0;
  static int64_t fold(int64_t a, int64_t b) { return a + b; }
  static int64_t of_eight(const uint8_t* x) { return __builtin_popcountll(truth_of_eight(x)); }
};

template <class R, class Fold>
struct TruthLoops {
  static void init(void* acc, int64_t n) {
    std::fill_n(static_cast<int64_t*>(acc), n, Fold::identity);
  }
  static void fold_runs(void* acc, int64_t, const ReduceRuns& runs, const ReduceParams&) {
    for (int64_t r = 0; r < runs.count; ++r) {
      const uint8_t* const x = static_cast<const uint8_t*>(runs.elements) + r * runs.stride;
      int64_t& to = static_cast<int64_t*>(acc)[runs.first + r];
      int64_t i = 0;
      for (; i + 8 <= runs.length; i += 8) to = Fold::fold(to, Fold::of_eight(x + i));
      for (; i < runs.length; ++i) to = Fold::fold(to, x[i] != 0);
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    int64_t* const to = static_cast<int64_t*>(acc);
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t* const x = static_cast<const uint8_t*>(elements) + r * row_stride;
      for (int64_t i = 0; i < n; ++i) to[i] = Fold::fold(to[i], x[i] != 0);
    }
  }
  static void combine(void* acc, const void* other, int64_t n) {
    int64_t* const to = static_cast<int64_t*>(acc);
    for (int64_t i = 0; i < n; ++i) {
      to[i] = Fold::fold(to[i], static_cast<const int64_t*>(other)[i]);
    }
  }
  static void finish(const void* acc, int64_t n, double, const ReduceParams&, void* results) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<R*>(results)[i] = static_cast<R>(static_cast<const int64_t*>(acc)[i]);
    }
  }
};

template <class R, class Fold>
ReduceLoops of(DType result) {
  return reduce_loops_of<TruthLoops<R, Fold>>(DType::Bool, result, sizeof(int64_t));
}

}  // namespace

ReduceLoops reduce_truth_loops(Reduction kind) {
  if (kind == Reduction::Any) return of<bool, AnyTrue>(DType::Bool);
  if (kind == Reduction::All) return of<bool, AllTrue>(DType::Bool);
  return of<int64_t, CountTrue>(DType::Int64);
}

}  // namespace sb::internal
