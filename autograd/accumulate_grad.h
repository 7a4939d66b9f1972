// The end of the graph: adds what arrives to the gradient of a leaf.

#ifndef SWITCHBOARD_AUTOGRAD_ACCUMULATE_GRAD_H_
#define SWITCHBOARD_AUTOGRAD_ACCUMULATE_GRAD_H_

#include <string>

#include "switchboard/autograd/node.h"

namespace sb::internal {

// As `torch::autograd::AccumulateGrad`. There is one for each leaf, while a graph leads to it. Two
// threads may add to one leaf at once.
class AccumulateGrad final : public GradNode {
 public:
  explicit AccumulateGrad(Tensor leaf);
  std::string name() const override { return "AccumulateGrad"; }
  TensorVector apply(TensorVector grads) override;

 protected:
  // The leaf knows its accumulator weakly.
  void release_resources() override { leaf_ = Tensor(); }

 private:
  // Returns the gradient after the hooks of the leaf have seen it.
  Tensor run_hooks(Tensor grad) const;

  Tensor leaf_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_ACCUMULATE_GRAD_H_
