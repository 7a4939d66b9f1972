// The kinds of reductions to a number.

#ifndef SWITCHBOARD_OPS_CPU_REDUCTION_H_
#define SWITCHBOARD_OPS_CPU_REDUCTION_H_

#include <cstdint>

namespace sb {

enum class Reduction : uint8_t {
  Sum,
  NanSum,  // NaN counts as 0
  Mean,
  Prod,
  Max,
  Min,
  Any,
  All,
  CountNonzero,
  Variance,
  StandardDeviation,
  LogSumExp,
  // Norms: of the largest and the smallest magnitude, of how many are not 0, of sums of powers.
  NormMax,
  NormMin,
  Norm0,
  Norm1,
  Norm2,
  NormP,
};

struct ReduceParams {
  double p = 2;           // the exponent of NormP
  double correction = 1;  // what Variance and StandardDeviation subtract from the count
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_REDUCTION_H_
