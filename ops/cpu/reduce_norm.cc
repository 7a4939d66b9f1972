// Norms. Those of float32 of orders 1 and 2 are sums; the others are taken of what becomes of the
// elements in double.

#include <complex>

#include "switchboard/ops/cpu/reduce_folds.h"
#include "switchboard/ops/cpu/reduce_sums.h"
#include "switchboard/ops/cpu/vector_math.h"

namespace sb::internal {
namespace {

struct Absolute {
  template <class A>
  static auto of(const A& x, const ReduceParams&) {
    return x.abs();
  }
};
struct AbsoluteSquare {
  template <class A>
  static auto of(const A& x, const ReduceParams&) {
    return x.abs2();
  }
};
struct IsNonzero {
  template <class A>
  static auto of(const A& x, const ReduceParams&) {
    return (x != typename A::Scalar(0)).template cast<double>();
  }
};
struct Power {
  template <class A>
  static auto of(const A& x, const ReduceParams& params) {
    using Array = Eigen::Array<double, Eigen::Dynamic, 1, 0, A::MaxRowsAtCompileTime, 1>;
    return vec::pow(x.abs(), Array::Constant(x.size(), params.p));
  }
};

template <class E, class Map, class Loops>
ReduceLoops mapped() {
  return reduce_loops_of<Mapped<E, Map, Loops>>(
      std::is_same_v<E, double> ? DType::Float64 : DType::Complex128, DType::Float64, Loops::kSize);
}
template <class E>
ReduceLoops in_double(Reduction kind) {
  switch (kind) {
    case Reduction::NormMax:
      return mapped<E, Absolute, FoldLoops<double, Largest>>();
    case Reduction::NormMin:
      return mapped<E, Absolute, FoldLoops<double, Smallest>>();
    case Reduction::Norm0:
      return mapped<E, IsNonzero, SumLoops<double>>();
    case Reduction::Norm1:
      return mapped<E, Absolute, SumLoops<double>>();
    case Reduction::Norm2:
      return mapped<E, AbsoluteSquare, SumLoops<double, Keep, SquareRoot>>();
    default:
      return mapped<E, Power, SumLoops<double, Keep, RootP>>();
  }
}

template <class Loops>
ReduceLoops of_floats() {
  return reduce_loops_of<Loops>(DType::Float32, DType::Float64, Loops::kSize);
}

ReduceLoops loops(Reduction kind, DType dtype) {
  if (is_complex(dtype)) return in_double<std::complex<double>>(kind);
  if (dtype != DType::Float64) {
    if (kind == Reduction::Norm1) return of_floats<SumLoops<float, Magnitude>>();
    if (kind == Reduction::Norm2) return of_floats<SumLoops<float, Square, SquareRoot>>();
  }
  return in_double<double>(kind);
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_norm_loops, &loops);

}  // namespace sb::internal
