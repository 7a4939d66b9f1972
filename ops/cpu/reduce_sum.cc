// Sum, mean, and the sum that takes NaN for 0.

#include "switchboard/ops/cpu/reduce_sums.h"

namespace sb::internal {
namespace {

struct DropNan {
  template <class A>
  static auto of(const A& x, const ReduceParams&) {
    return (x == x).select(x, 0.0);
  }
};

template <class Finish>
ReduceLoops plain(DType dtype) {
  if (is_complex(dtype)) {
    using Loops = SumLoops<double, Keep, Finish, 2>;
    return reduce_loops_of<Loops>(DType::Complex128, DType::Complex128, Loops::kSize);
  }
  if (dtype == DType::Float64) {
    using Loops = SumLoops<double, Keep, Finish>;
    return reduce_loops_of<Loops>(DType::Float64, DType::Float64, Loops::kSize);
  }
  using Loops = SumLoops<float, Keep, Finish>;
  return reduce_loops_of<Loops>(DType::Float32, DType::Float64, Loops::kSize);
}

ReduceLoops loops(Reduction kind, DType dtype) {
  if (kind == Reduction::Mean) return plain<OverCount>(dtype);
  if (kind == Reduction::Sum || is_complex(dtype)) return plain<AsIs>(dtype);
  using Loops = Mapped<double, DropNan, SumLoops<double>>;
  return reduce_loops_of<Loops>(DType::Float64, DType::Float64, Loops::kSize);
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_sum_loops, &loops);

}  // namespace sb::internal
