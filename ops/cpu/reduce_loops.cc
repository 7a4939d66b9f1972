#include "switchboard/ops/cpu/reduce_loops.h"

namespace sb::internal {

ReduceLoops reduce_loops(Reduction kind, DType dtype) {
  switch (kind) {
    case Reduction::Any:
    case Reduction::All:
    case Reduction::CountNonzero:
      return reduce_truth_loops(kind);
    case Reduction::Variance:
    case Reduction::StandardDeviation:
      return (*reduce_variance_loops)(kind, dtype);
    case Reduction::LogSumExp:
      return (*reduce_logsumexp_loops)(kind, dtype);
    case Reduction::NormMax:
    case Reduction::NormMin:
    case Reduction::Norm0:
    case Reduction::Norm1:
    case Reduction::Norm2:
    case Reduction::NormP:
      return (*reduce_norm_loops)(kind, dtype);
    case Reduction::Sum:
    case Reduction::NanSum:
    case Reduction::Mean:
    case Reduction::Prod:
    case Reduction::Max:
    case Reduction::Min:
      break;
  }
  const bool is_or = kind == Reduction::Sum || kind == Reduction::Max;
  // Of truth values, the sum and the largest say whether any is true, the others whether all are.
  if (dtype == DType::Bool) return reduce_truth_loops(is_or ? Reduction::Any : Reduction::All);
  if (is_integral(dtype, false)) return (*reduce_integer_loops)(kind, dtype);
  const bool is_sum =
      kind == Reduction::Sum || kind == Reduction::NanSum || kind == Reduction::Mean;
  return is_sum ? (*reduce_sum_loops)(kind, dtype) : (*reduce_fold_loops)(kind, dtype);
}

}  // namespace sb::internal
