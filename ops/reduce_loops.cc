#include "switchboard/ops/reduce_loops.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "Eigen/Core"
#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/vector_math.h"

// GCC 12 sees Eigen's vectorised loops read past an array of one element, which they never enter,
// and takes the undefined vectors of its own AVX-512 header for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace sb::internal {
namespace {

template <class T>
using Column = Eigen::Array<T, Eigen::Dynamic, 1>;
template <class T>
Eigen::Map<const Column<T>> column(const T* data, int64_t n) {
  return {data, n};
}
template <class T>
Eigen::Map<Column<T>> column(T* data, int64_t n) {
  return {data, n};
}
// At most `max` elements: arrays made of these need no memory from the heap.
template <int64_t max, class T>
Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1, 0, max, 1>> column_up_to(const T* data,
                                                                             int64_t n) {
  return {data, n};
}
template <class T>
inline constexpr bool is_complex_type = Eigen::NumTraits<T>::IsComplex != 0;
template <class T>
using RealOf = typename Eigen::NumTraits<T>::Real;

// Of each two elements the larger or the smaller; NaN is both.
template <class A, class B>
auto larger(const A& a, const B& b) {
  using T = typename A::Scalar;
  return a.binaryExpr(b, Eigen::internal::scalar_max_op<T, T, Eigen::PropagateNaN>());
}
template <class A, class B>
auto smaller(const A& a, const B& b) {
  using T = typename A::Scalar;
  return a.binaryExpr(b, Eigen::internal::scalar_min_op<T, T, Eigen::PropagateNaN>());
}

// A run is folded into this many accumulators side by side, whatever the CPU's vectors hold, and
// these into one after each block. Sums of a block in float then add 16 numbers in each lane.
constexpr int64_t kLanes = 64;
constexpr int64_t kBlock = 1024;

// Everything is an expression that holds no array, only places of elements: nothing is computed, or
// kept in memory, before it is folded.
//
// What becomes of elements before they are folded: a function of Eigen arrays, whose result is of
// type Lane<E>. `neutral` is an element that does not count.
struct Keep {
  template <class E>
  using Lane = E;
  template <class A>
  static auto apply(const A& x, const ReduceParams&) {
    return x;
  }
};
struct DropNan : Keep {
  template <class A>
  static auto apply(const A& x, const ReduceParams&) {
    return (x == x).select(x, typename A::Scalar(0));
  }
};
// Numbers of which sums or products leave float's range, or of which there is no float form.
struct Widen {
  template <class E>
  using Lane = std::conditional_t<is_complex_type<E>, std::complex<double>, double>;
  template <class A>
  static auto apply(const A& x, const ReduceParams&) {
    return x.template cast<Lane<typename A::Scalar>>();
  }
};
struct Magnitude {
  template <class E>
  using Lane = RealOf<E>;
  template <class A>
  static auto apply(const A& x, const ReduceParams&) {
    return x.abs();
  }
};
struct WideMagnitude {
  template <class E>
  using Lane = double;
  template <class A>
  static auto apply(const A& x, const ReduceParams& params) {
    return Widen::apply(x, params).abs();
  }
};
struct Square {
  template <class E>
  using Lane = double;
  template <class A>
  static auto apply(const A& x, const ReduceParams& params) {
    return Widen::apply(x, params).abs2();
  }
};
struct Power {
  template <class E>
  using Lane = double;
  template <class A>
  static auto apply(const A& x, const ReduceParams& params) {
    using Array = Eigen::Array<double, A::RowsAtCompileTime, 1, 0, A::MaxRowsAtCompileTime, 1>;
    return vec::pow(WideMagnitude::apply(x, params), Array::Constant(x.size(), params.p));
  }
};
struct IsNonzero {
  template <class E>
  using Lane = double;
  template <class A>
  static auto apply(const A& x, const ReduceParams&) {
    return (x != typename A::Scalar(0)).template cast<double>();
  }
};

// How elements are folded. `is_sum`: by compensated addition in double.
struct Add {
  static constexpr bool is_sum = true;
  template <class T>
  static T identity() {
    return T(0);
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    return a + b;
  }
  template <class A>
  static auto fold_all(const A& a) {
    return a.sum();
  }
};
struct Multiply {
  static constexpr bool is_sum = false;
  template <class T>
  static T identity() {
    return T(1);
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    return a * b;
  }
  template <class A>
  static auto fold_all(const A& a) {
    return a.prod();
  }
};
struct Largest {
  static constexpr bool is_sum = false;
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    return larger(a, b);
  }
  template <class A>
  static auto fold_all(const A& a) {
    return a.template maxCoeff<Eigen::PropagateNaN>();
  }
};
struct Smallest {
  static constexpr bool is_sum = false;
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
  template <class A, class B>
  static auto fold(const A& a, const B& b) {
    return smaller(a, b);
  }
  template <class A>
  static auto fold_all(const A& a) {
    return a.template minCoeff<Eigen::PropagateNaN>();
  }
};

// The folded number as the result, given in the result's type.
struct AsIs {
  static double value(double sum, double, const ReduceParams&) { return sum; }
  template <class A>
  static A value(A sum, double, const ReduceParams&) {
    return sum;
  }
};
struct OverCount {
  template <class A>
  static A value(A sum, double count, const ReduceParams&) {
    return sum / count;
  }
};
struct SquareRoot {
  static double value(double sum, double, const ReduceParams&) { return std::sqrt(sum); }
};
struct RootP {
  static double value(double sum, double, const ReduceParams& params) {
    return std::pow(sum, 1 / params.p);
  }
};

// Elements of type E, mapped, folded; R is the type of results.
template <class E, class R, class Map, class Fold, class Finish = AsIs>
struct Loops {
  using Lane = typename Map::template Lane<E>;
  // Wide sums: double, or complex of it, with the part that rounding lost beside each.
  static constexpr bool compensated = Fold::is_sum && !std::is_integral_v<Lane>;
  using A = std::conditional_t<
      compensated, std::conditional_t<is_complex_type<Lane>, std::complex<double>, double>, Lane>;

  static A* errors(void* acc, int64_t n) { return static_cast<A*>(acc) + n; }

  static void init(void* acc, int64_t n) {
    std::fill_n(static_cast<A*>(acc), n, Fold::template identity<A>());
    if constexpr (compensated) std::fill_n(errors(acc, n), n, A(0));
  }
  // acc[i] = fold(acc[i], x[i]).
  template <class X>
  static void fold_in(void* acc, const X& x) {
    auto to = column(static_cast<A*>(acc), x.size());
    if constexpr (compensated) {
      // Knuth's two-sum: what is lost in a + b, exactly.
      auto lost = column(errors(acc, x.size()), x.size());
      Eigen::Array<A, Eigen::Dynamic, 1, 0, kReduceChunk, 1> a = to, b = x.template cast<A>();
      to = a + b;
      const auto part = to - a;
      lost += (a - (to - part)) + (b - part);
    } else {
      to = Fold::fold(to, x);
    }
  }
  // The same for one accumulator.
  static void fold_one_in(void* acc, A x) {
    A& to = *static_cast<A*>(acc);
    if constexpr (compensated) {
      const A a = to;
      to = a + x;
      const A part = to - a;
      *errors(acc, 1) += (a - (to - part)) + (x - part);
    } else {
      using One = Eigen::Array<A, 1, 1>;
      to = Fold::fold(One(to), One(x))(0);
    }
  }
  static void fold_run(void* acc, const void* elements, int64_t length,
                       const ReduceParams& params) {
    using Lanes = Eigen::Array<Lane, kLanes, 1>;
    using Elements = Eigen::Array<E, kLanes, 1>;
    using One = Eigen::Array<A, 1, 1>;
    const E* const x = static_cast<const E*>(elements);
    for (int64_t i = 0; i < length;) {
      const int64_t end = std::min(i + kBlock, length);
      Lanes lanes = Lanes::Constant(Fold::template identity<Lane>());
      int64_t filled = 0;
      const auto part = [&](int64_t at) {
        return Map::apply(Eigen::Map<const Elements>(x + at), params);
      };
      // By fours: lanes wait for each other less, and sums are taken in pairs.
      for (; i + 4 * kLanes <= end; i += 4 * kLanes, filled = kLanes) {
        lanes =
            Fold::fold(lanes, Fold::fold(Fold::fold(part(i), part(i + kLanes)),
                                         Fold::fold(part(i + 2 * kLanes), part(i + 3 * kLanes))));
      }
      for (; i + kLanes <= end; i += kLanes, filled = kLanes) {
        lanes = Fold::fold(lanes, part(i));
      }
      if (i < end) {
        const int64_t rest = end - i;
        lanes.head(rest) =
            Fold::fold(lanes.head(rest), Map::apply(column_up_to<kLanes>(x + i, rest), params));
        filled = std::max(filled, rest);
        i = end;
      }
      if (filled == kLanes) {
        fold_one_in(acc, Fold::fold_all(lanes.template cast<A>()));
      } else {
        A few = Fold::template identity<A>();
        for (int64_t k = 0; k < filled; ++k) {
          few = Fold::fold(One(few), One(static_cast<A>(lanes[k])))(0);
        }
        fold_one_in(acc, few);
      }
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams& params) {
    const E* x = static_cast<const E*>(elements);
    const auto row = [&](int64_t r) {
      return Map::apply(column_up_to<kReduceChunk>(x + r * row_stride, n), params);
    };
    Eigen::Array<Lane, Eigen::Dynamic, 1, 0, kReduceChunk, 1> folded(n);
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8) {
      const auto two = [&](int64_t i) { return Fold::fold(row(i), row(i + 1)); };
      const auto four = [&](int64_t i) { return Fold::fold(two(i), two(i + 2)); };
      folded = Fold::fold(four(r), four(r + 4));
      fold_in(acc, folded);
    }
    for (; r < rows; ++r) {
      folded = row(r);
      fold_in(acc, folded);
    }
  }
  static void combine(void* acc, const void* other, int64_t n) {
    const A* const from = static_cast<const A*>(other);
    fold_in(acc, column(from, n));
    if constexpr (compensated) column(errors(acc, n), n) += column(from + n, n);
  }
  static void finish(const void* acc, int64_t n, double count, const ReduceParams& params,
                     void* results) {
    const A* const from = static_cast<const A*>(acc);
    for (int64_t i = 0; i < n; ++i) {
      A value = from[i];
      if constexpr (compensated) {
        // Where the sum is infinite, what was lost is NaN.
        const A whole = value + from[n + i];
        if (whole == whole) value = whole;
      }
      static_cast<R*>(results)[i] = static_cast<R>(Finish::value(value, count, params));
    }
  }
};

// Elements are bytes that are 0 or 1.
template <class R, class Fold>
struct TruthLoops {
  using A = int64_t;

  static void init(void* acc, int64_t n) { std::fill_n(static_cast<A*>(acc), n, Fold::identity); }
  static void fold_run(void* acc, const void* elements, int64_t length, const ReduceParams&) {
    A& to = *static_cast<A*>(acc);
    const char* const x = static_cast<const char*>(elements);
    int64_t i = 0;
    for (; i + 8 <= length; i += 8) {
      uint64_t eight;
      std::memcpy(&eight, x + i, 8);
      to = Fold::fold(to, Fold::of_eight(eight));
    }
    for (; i < length; ++i) to = Fold::fold(to, A(x[i] != 0));
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    A* const to = static_cast<A*>(acc);
    for (int64_t r = 0; r < rows; ++r) {
      const char* const x = static_cast<const char*>(elements) + r * row_stride;
      for (int64_t i = 0; i < n; ++i) to[i] = Fold::fold(to[i], A(x[i] != 0));
    }
  }
  static void combine(void* acc, const void* other, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      A& to = static_cast<A*>(acc)[i];
      to = Fold::fold(to, static_cast<const A*>(other)[i]);
    }
  }
  static void finish(const void* acc, int64_t n, double, const ReduceParams&, void* results) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<R*>(results)[i] = static_cast<R>(static_cast<const A*>(acc)[i]);
    }
  }
};
struct AnyTrue {
  static constexpr int64_t identity = 0;
  static int64_t fold(int64_t a, int64_t b) { return a | b; }
  static int64_t of_eight(uint64_t x) { return x != 0; }
};
struct AllTrue {
  static constexpr int64_t identity = 1;
  static int64_t fold(int64_t a, int64_t b) { return a & b; }
  static int64_t of_eight(uint64_t x) { return x == 0x0101010101010101; }
};
struct CountTrue {
  static constexpr int64_t identity = 0;
  static int64_t fold(int64_t a, int64_t b) { return a + b; }
  static int64_t of_eight(uint64_t x) { return __builtin_popcountll(x); }
};

// The mean, the sum of the squared distances from it, and the count, which merge by Chan's
// formula. A run is taken block by block, each in two passes.
template <class E, bool root>
struct VarianceLoops {
  using A = std::conditional_t<is_complex_type<E>, std::complex<double>, double>;
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
  static void fold_run(void* acc, const void* elements, int64_t length, const ReduceParams&) {
    const Accumulators to(acc, 1);
    for (int64_t i = 0; i < length; i += kBlock) {
      const int64_t n = std::min(kBlock, length - i);
      Eigen::Array<A, Eigen::Dynamic, 1, 0, kBlock, 1> x =
          column(static_cast<const E*>(elements) + i, n).template cast<A>();
      const A mean = x.sum() / static_cast<double>(n);
      x -= mean;
      merge(to.mean, to.squares, to.count, mean, x.abs2().sum(), static_cast<double>(n));
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    const Accumulators to(acc, n);
    auto mean = column(to.mean, n);
    auto squares = column(to.squares, n);
    for (int64_t r = 0; r < rows; ++r) {
      const double count = to.count[0] + static_cast<double>(r + 1);
      const Eigen::Array<A, Eigen::Dynamic, 1, 0, kReduceChunk, 1> x =
          column(static_cast<const E*>(elements) + r * row_stride, n).template cast<A>();
      // Welford's step.
      const Eigen::Array<A, Eigen::Dynamic, 1, 0, kReduceChunk, 1> apart = x - mean;
      mean += apart / A(count);
      if constexpr (is_complex_type<E>) {
        squares += (apart * (x - mean).conjugate()).real();
      } else {
        squares += apart * (x - mean);
      }
    }
    column(to.count, n) += static_cast<double>(rows);
  }
  static void combine(void* acc, const void* other, int64_t n) {
    const Accumulators to(acc, n), from(const_cast<void*>(other), n);
    for (int64_t i = 0; i < n; ++i) {
      merge(to.mean + i, to.squares + i, to.count + i, from.mean[i], from.squares[i],
            from.count[i]);
    }
  }
  static void finish(const void* acc, int64_t n, double count, const ReduceParams& params,
                     void* results) {
    const Accumulators from(const_cast<void*>(acc), n);
    const double divisor = std::max(0.0, count - params.correction);
    for (int64_t i = 0; i < n; ++i) {
      const double variance = from.squares[i] / divisor;
      static_cast<RealOf<E>*>(results)[i] =
          static_cast<RealOf<E>>(root ? std::sqrt(variance) : variance);
    }
  }
};

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
      return vec::exp(wide).template cast<float>();
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
  static void fold_run(void* acc, const void* elements, int64_t length, const ReduceParams&) {
    const Accumulators to(acc, 1);
    for (int64_t i = 0; i < length; i += kBlock) {
      const int64_t n = std::min(kBlock, length - i);
      Eigen::Array<E, Eigen::Dynamic, 1, 0, kBlock, 1> x =
          column(static_cast<const E*>(elements) + i, n);
      const E largest = x.template maxCoeff<Eigen::PropagateNaN>();
      x -= pivot(largest);
      x = exp(x);
      merge(to.sum, to.largest, x.template cast<double>().sum(), largest);
    }
  }
  static void fold_rows(void* acc, const void* elements, int64_t n, int64_t row_stride,
                        int64_t rows, const ReduceParams&) {
    using Row = Eigen::Array<E, Eigen::Dynamic, 1, 0, kReduceChunk, 1>;
    using Sums = Eigen::Array<double, Eigen::Dynamic, 1, 0, kReduceChunk, 1>;
    const Accumulators to(acc, n);
    const E* const x = static_cast<const E*>(elements);
    const auto row = [&](int64_t r) { return column_up_to<kReduceChunk>(x + r * row_stride, n); };
    constexpr int64_t kRows = 16;
    for (int64_t r = 0; r < rows; r += kRows) {
      const int64_t end = std::min(rows, r + kRows);
      Row largest = row(r);
      for (int64_t i = r + 1; i < end; ++i) {
        largest = larger(largest, row(i)).eval();
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

// uint64_t stands for int64: it wraps.
template <class T>
constexpr DType dtype_or_int64() {
  if constexpr (std::is_same_v<T, uint64_t>)
    return DType::Int64;
  else
    return dtype_of<T>;
}

template <class L>
ReduceLoops table(DType element, DType result, int64_t size) {
  return {element, result, size, L::init, L::fold_run, L::fold_rows, L::combine, L::finish};
}
template <class E, class R, class Map, class Fold, class Finish = AsIs>
ReduceLoops folded() {
  using L = Loops<E, R, Map, Fold, Finish>;
  return table<L>(dtype_or_int64<E>(), dtype_or_int64<R>(),
                  static_cast<int64_t>((L::compensated ? 2 : 1) * sizeof(typename L::A)));
}
template <class R, class Fold>
ReduceLoops truth() {
  return table<TruthLoops<R, Fold>>(DType::Bool, dtype_of<R>, sizeof(int64_t));
}

// What floating-point and complex elements have in common.
template <class E>
ReduceLoops inexact(Reduction kind) {
  using R = RealOf<E>;
  using Lane = std::conditional_t<is_complex_type<E>, Widen, Keep>;
  switch (kind) {
    case Reduction::Sum:
      return folded<E, E, Lane, Add>();
    case Reduction::Mean:
      return folded<E, E, Lane, Add, OverCount>();
    case Reduction::Prod:
      return folded<E, E, Widen, Multiply>();
    case Reduction::Variance:
      using Variance = VarianceLoops<E, false>;
      return table<Variance>(dtype_of<E>, dtype_of<R>, Variance::kSize);
    case Reduction::StandardDeviation:
      using Deviation = VarianceLoops<E, true>;
      return table<Deviation>(dtype_of<E>, dtype_of<R>, Deviation::kSize);
    case Reduction::NormMax:
      return folded<E, R, Magnitude, Largest>();
    case Reduction::NormMin:
      return folded<E, R, Magnitude, Smallest>();
    case Reduction::Norm0:
      return folded<E, R, IsNonzero, Add>();
    case Reduction::Norm1:
      return folded<E, R, WideMagnitude, Add>();
    case Reduction::Norm2:
      return folded<E, R, Square, Add, SquareRoot>();
    case Reduction::NormP:
      return folded<E, R, Power, Add, RootP>();
    default:
      break;
  }
  if constexpr (!is_complex_type<E>) {
    if (kind == Reduction::Max) return folded<E, E, Keep, Largest>();
    if (kind == Reduction::Min) return folded<E, E, Keep, Smallest>();
    if (kind == Reduction::NanSum) return folded<E, E, DropNan, Add>();
    if (kind == Reduction::LogSumExp) {
      return table<LogSumExpLoops<E>>(dtype_of<E>, DType::Float64, LogSumExpLoops<E>::kSize);
    }
  }
  return {};
}

ReduceLoops loops_of(Reduction kind, DType dtype) {
  if (kind == Reduction::CountNonzero) return truth<int64_t, CountTrue>();
  // Of truth values, the sum and the largest say whether any is true.
  if (kind == Reduction::Any ||
      (dtype == DType::Bool && (kind == Reduction::Sum || kind == Reduction::Max)))
    return truth<bool, AnyTrue>();
  if (kind == Reduction::All || dtype == DType::Bool) return truth<bool, AllTrue>();
  if (dtype == DType::Complex64) return inexact<std::complex<float>>(kind);
  if (dtype == DType::Complex128) return inexact<std::complex<double>>(kind);
  if (dtype == DType::Float64) return inexact<double>(kind);
  if (is_floating_point(dtype)) return inexact<float>(kind);
  switch (kind) {
    case Reduction::Max:
      return folded<int64_t, int64_t, Keep, Largest>();
    case Reduction::Min:
      return folded<int64_t, int64_t, Keep, Smallest>();
    case Reduction::Prod:
      return folded<uint64_t, uint64_t, Keep, Multiply>();
    default:
      return folded<uint64_t, uint64_t, Keep, Add>();
  }
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_loops, &loops_of);

}  // namespace sb::internal
