// What the derivatives of losses share.

#ifndef SWITCHBOARD_OPS_LOSS_DERIVATIVES_LOSS_GRADIENTS_H_
#define SWITCHBOARD_OPS_LOSS_DERIVATIVES_LOSS_GRADIENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/loss/loss_schema.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb::internal {

// Two tensors as a loss compared them: of one shape, and here of one dtype.
struct ComparedTensors {
  Tensor self, target;

  ComparedTensors(const Tensor& a, const Tensor& b, DType dtype) : self(a), target(b) {
    if (!have_one_shape(a, b)) {
      const std::vector<Tensor> wide = broadcast_tensors({{a, b}});
      self = wide[0];
      target = wide[1];
    }
    for (Tensor* t : {&self, &target})
      if (t->dtype() != dtype) *t = to_dtype(*t, dtype);
  }

 private:
  static bool have_one_shape(const Tensor& a, const Tensor& b) {
    if (!any_symbolic(a, b)) return a.sizes() == b.sizes();
    return a.dim() == b.dim() && known(equal_sizes<SymInt>(a.sym_sizes(), b.sym_sizes()));
  }
};

// The gradient of each of so many elements from that of what they were reduced to, or of each as it
// is where nothing was.
inline Tensor spread(const Tensor& grad, const SymInt& count, int64_t reduction) {
  return reduction == kReduceMean ? div_Scalar(grad, count) : grad;
}
inline Tensor times_weight(const Tensor& grad, const std::optional<Tensor>& weight) {
  return is_given(weight) ? mul(grad, *weight) : grad;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_LOSS_DERIVATIVES_LOSS_GRADIENTS_H_
