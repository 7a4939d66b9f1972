// Reductions of integers, all of them in int64. Sums and products wrap.

#include <algorithm>
#include <limits>

#include "switchboard/ops/cpu/independent_loop.h"
#include "switchboard/ops/cpu/reduce_loops.h"

namespace sb::internal {
namespace {

struct Add {
  static constexpr int64_t identity = 0;
  static int64_t fold(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct Multiply {
  static constexpr int64_t identity = 1;
  static int64_t fold(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
struct Larger {
  static constexpr int64_t identity = std::numeric_limits<int64_t>::min();
  static int64_t fold(int64_t a, int64_t b) { return std::max(a, b); }
};
struct Smaller {
  static constexpr int64_t identity = std::numeric_limits<int64_t>::max();
  static int64_t fold(int64_t a, int64_t b) { return std::min(a, b); }
};

// The compiler makes vectors of these.
template <class Fold>
struct Loops {
  static void init(void* acc, int64_t n) {
    std::fill_n(static_cast<int64_t*>(acc), n, Fold::identity);
  }
  static void fold_runs(void* acc, int64_t, const ReduceRuns& runs, const ReduceParams&) {
    for (int64_t r = 0; r < runs.count; ++r) {
      const int64_t* const x = static_cast<const int64_t*>(runs.elements) + r * runs.stride;
      int64_t& to = static_cast<int64_t*>(acc)[runs.first + r];
      int64_t folded = to;
      for (int64_t i = 0; i < runs.length; ++i) folded = Fold::fold(folded, x[i]);
      to = folded;
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    for (int64_t r = 0; r < rows; ++r) {
      combine(acc, static_cast<const int64_t*>(elements) + r * row_stride, n);
    }
  }
  static void combine(void* acc, const void* other, int64_t n) {
    int64_t* const to = static_cast<int64_t*>(acc);
    const int64_t* const from = static_cast<const int64_t*>(other);
    SB_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = Fold::fold(to[i], from[i]);
  }
  static void finish(const void* acc, int64_t n, double, const ReduceParams&, void* results) {
    std::copy_n(static_cast<const int64_t*>(acc), n, static_cast<int64_t*>(results));
  }
};

template <class Fold>
ReduceLoops of() {
  return reduce_loops_of<Loops<Fold>>(DType::Int64, DType::Int64, sizeof(int64_t));
}
ReduceLoops loops(Reduction kind, DType) {
  switch (kind) {
    case Reduction::Max:
      return of<Larger>();
    case Reduction::Min:
      return of<Smaller>();
    case Reduction::Prod:
      return of<Multiply>();
    default:
      return of<Add>();
  }
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_integer_loops, &loops);

}  // namespace sb::internal
