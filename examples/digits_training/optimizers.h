// SGD and Adam, as `torch.optim` has them, on lists of tensors at once.

#ifndef SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_OPTIMIZERS_H_
#define SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_OPTIMIZERS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "switchboard/core/tensor.h"

namespace digits {

class Optimizer {
 public:
  explicit Optimizer(std::vector<sb::Tensor> parameters) : parameters_(std::move(parameters)) {}
  virtual ~Optimizer() = default;

  // Moves the parameters along their gradients, which all of them have.
  void step();
  // Takes the gradients away.
  void zero_grad();

 protected:
  virtual void update(const std::vector<sb::Tensor>& parameters,
                      const std::vector<sb::Tensor>& gradients) = 0;

 private:
  std::vector<sb::Tensor> parameters_;
};

// "sgd" (learning rate 0.1, momentum 0.9) or "adam" (0.003). Throws sb::ValueError for anything
// else.
std::unique_ptr<Optimizer> make_optimizer(std::string_view name,
                                          std::vector<sb::Tensor> parameters);

}  // namespace digits

#endif  // SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_OPTIMIZERS_H_
