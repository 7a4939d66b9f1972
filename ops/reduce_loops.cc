#include "switchboard/ops/reduce_loops.h"

#include <cmath>
#include <complex>
#include <limits>

#include "Eigen/Core"
#include "switchboard/core/dtype_types.h"

namespace sb::internal {
namespace {

// One step of a reduction: E is the type of elements, A that of accumulators.
template <class E, class A>
struct Sum {
  using Element = E;
  using Accumulator = A;
  static A identity() { return A(0); }
  static A fold(A acc, E x) { return acc + static_cast<A>(x); }
};
template <class E>
struct Prod {
  using Element = E;
  using Accumulator = E;
  static E identity() { return E(1); }
  static E fold(E acc, E x) { return acc * x; }
};
// Nothing else is unequal to itself than NaN, which wins.
template <class E>
struct Max {
  using Element = E;
  using Accumulator = E;
  static E identity() {
    return std::numeric_limits<E>::has_infinity ? -std::numeric_limits<E>::infinity()
                                                : std::numeric_limits<E>::lowest();
  }
  static E fold(E acc, E x) { return x > acc || x != x ? x : acc; }
};
template <class E>
struct Min {
  using Element = E;
  using Accumulator = E;
  static E identity() {
    return std::numeric_limits<E>::has_infinity ? std::numeric_limits<E>::infinity()
                                                : std::numeric_limits<E>::max();
  }
  static E fold(E acc, E x) { return x < acc || x != x ? x : acc; }
};
struct Any {
  using Element = bool;
  using Accumulator = bool;
  static bool identity() { return false; }
  static bool fold(bool acc, bool x) { return acc | x; }
};
struct All {
  using Element = bool;
  using Accumulator = bool;
  static bool identity() { return true; }
  static bool fold(bool acc, bool x) { return acc & x; }
};

template <class E, class A>
constexpr bool is_sum(Sum<E, A>) {
  return true;
}
constexpr bool is_sum(...) { return false; }

template <class Step>
struct Loops {
  using E = typename Step::Element;
  using A = typename Step::Accumulator;

  static E at(const char* elements, int64_t stride, int64_t i) {
    return *reinterpret_cast<const E*>(elements + i * stride);
  }
  static void init(void* acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<A*>(acc)[i] = Step::identity();
  }
  static void fold_run(void* acc, const char* elements, int64_t stride, int64_t n) {
    A result = *static_cast<A*>(acc);
    if constexpr (is_sum(Step())) {
      // Vectorised, and short enough to lose no precision that matters.
      if (stride == static_cast<int64_t>(sizeof(E))) {
        using Vector = Eigen::Map<const Eigen::Array<E, Eigen::Dynamic, 1>>;
        *static_cast<A*>(acc) =
            result + static_cast<A>(Vector(reinterpret_cast<const E*>(elements), n).sum());
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) result = Step::fold(result, at(elements, stride, i));
    *static_cast<A*>(acc) = result;
  }
  static void fold_row(void* acc, const char* elements, int64_t stride, int64_t n) {
    A* const results = static_cast<A*>(acc);
    for (int64_t i = 0; i < n; ++i) {
      results[i] = Step::fold(results[i], at(elements, stride, i));
    }
  }
  static void divide(void* acc, int64_t n, double count) {
    if constexpr (is_sum(Step()) && !std::is_same_v<A, uint64_t>) {
      for (int64_t i = 0; i < n; ++i) static_cast<A*>(acc)[i] /= count;
    }
  }
};

// uint64_t stands for int64: it wraps.
template <class T>
constexpr DType dtype_or_int64() {
  if constexpr (std::is_same_v<T, uint64_t>)
    return DType::Int64;
  else
    return dtype_of<T>;
}

template <class Step>
ReduceLoops make() {
  using L = Loops<Step>;
  return {dtype_or_int64<typename L::E>(),
          dtype_or_int64<typename L::A>(),
          L::init,
          L::fold_run,
          L::fold_row,
          L::divide};
}

template <template <class> class Step>
ReduceLoops make_real(DType dtype) {
  if (dtype == DType::Float64) return make<Step<double>>();
  if (is_floating_point(dtype)) return make<Step<float>>();
  return make<Step<int64_t>>();
}

}  // namespace

ReduceLoops reduce_loops(Reduction kind, DType dtype) {
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  // Of truth values, the sum and the largest say whether any is true.
  if (kind == Reduction::Any ||
      (dtype == DType::Bool && (kind == Reduction::Sum || kind == Reduction::Max)))
    return make<Any>();
  if (kind == Reduction::All || dtype == DType::Bool) return make<All>();
  switch (kind) {
    case Reduction::Max:
      return make_real<Max>(dtype);
    case Reduction::Min:
      return make_real<Min>(dtype);
    case Reduction::Prod:
      if (dtype == DType::Complex64) return make<Prod<c64>>();
      if (dtype == DType::Complex128) return make<Prod<c128>>();
      if (dtype == DType::Float64) return make<Prod<double>>();
      return is_floating_point(dtype) ? make<Prod<float>>() : make<Prod<uint64_t>>();
    default:
      if (dtype == DType::Complex64) return make<Sum<c64, c128>>();
      if (dtype == DType::Complex128) return make<Sum<c128, c128>>();
      if (dtype == DType::Float64) return make<Sum<double, double>>();
      return is_floating_point(dtype) ? make<Sum<float, double>>()
                                      : make<Sum<uint64_t, uint64_t>>();
  }
}

}  // namespace sb::internal
