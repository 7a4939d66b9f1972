#include "switchboard/ops/attention/flash_kernels.h"

#include <cmath>
#include <limits>

#include "Eigen/Core"
#include "switchboard/ops/cpu/vector_math.h"

namespace sb::internal {
namespace {

template <class T>
using Row = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstRow = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <class T>
void weigh(T* scores, const T* mask, int64_t n, int64_t seen, const FlashRow<T>& state) {
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  Row<T> row(scores, seen);
  Row<T>(scores + seen, n - seen).setZero();
  if (seen == 0) return;
  if (mask) row += ConstRow<T>(mask, seen);
  const T block = row.template maxCoeff<Eigen::PropagateNaN>();
  const T before = *state.largest;
  const T largest = std::isnan(before) || before > block ? before : block;
  if (largest == kNothing) {
    row.setZero();
    return;
  }
  row = vec::exp(row - largest);
  const T factor = before == largest ? T(1) : std::exp(before - largest);
  *state.sum = *state.sum * factor + row.sum();
  if (factor != T(1)) Row<T>(state.output, state.width) *= factor;
  *state.largest = largest;
}

template <class T>
T finish(const FlashRow<T>& state, T* out) {
  const T sum = *state.sum;
  const T factor = sum == T(0) ? T(0) : 1 / sum;
  Row<T>(out, state.width) = ConstRow<T>(state.output, state.width) * factor;
  return *state.largest + std::log(sum);
}

template <class T>
constexpr FlashKernels<T> flash_kernels() {
  return {&weigh<T>, &finish<T>};
}

}  // namespace

SB_CPU_KERNEL(FlashKernels<float>, flash_kernels_float, flash_kernels<float>());
SB_CPU_KERNEL(FlashKernels<double>, flash_kernels_double, flash_kernels<double>());

}  // namespace sb::internal
