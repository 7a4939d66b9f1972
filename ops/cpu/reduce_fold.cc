// The product, and the largest and the smallest element, of floating-point and complex numbers.

#include <complex>

#include "switchboard/ops/cpu/reduce_folds.h"

namespace sb::internal {
namespace {

template <class E, class Fold>
ReduceLoops folded(DType dtype) {
  return reduce_loops_of<FoldLoops<E, Fold>>(dtype, dtype, sizeof(E));
}
template <class E>
ReduceLoops extreme(Reduction kind, DType dtype) {
  return kind == Reduction::Max ? folded<E, Largest>(dtype) : folded<E, Smallest>(dtype);
}

ReduceLoops loops(Reduction kind, DType dtype) {
  if (kind == Reduction::Prod) {
    // In double: products soon leave float's range.
    return is_complex(dtype) ? folded<std::complex<double>, Multiply>(DType::Complex128)
                             : folded<double, Multiply>(DType::Float64);
  }
  return dtype == DType::Float64 ? extreme<double>(kind, DType::Float64)
                                 : extreme<float>(kind, DType::Float32);
}

}  // namespace

SB_CPU_KERNEL(ReduceLoopsFunction, reduce_fold_loops, &loops);

}  // namespace sb::internal
