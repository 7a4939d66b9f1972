#include "switchboard/ops/loss/loss_schema.h"

#include "switchboard/ops/reductions/reductions.h"

namespace sb {

Tensor reduce_loss(const Tensor& loss, int64_t reduction) {
  if (reduction == kReduceMean) return mean(loss);
  if (reduction == kReduceSum) return sum(loss);
  return loss;
}

Tensor reduce_loss_out(const Tensor& loss, int64_t reduction, const Tensor& out) {
  if (reduction == kReduceMean) {
    return mean_dim_out(loss, IntArrayRef(), false, std::nullopt, out);
  }
  return sum_dim_out(loss, IntArrayRef(), false, std::nullopt, out);
}

}  // namespace sb
