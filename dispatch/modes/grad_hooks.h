// What transforms ask of autograd, where a program links it: without it nothing requires a
// gradient. And what autograd asks of transforms.

#ifndef SWITCHBOARD_DISPATCH_MODES_GRAD_HOOKS_H_
#define SWITCHBOARD_DISPATCH_MODES_GRAD_HOOKS_H_

#include <string>

#include "switchboard/core/tensor.h"

namespace sb::internal {

// Functions of autograd/variable.h and autograd/grad_mode.h, and one that makes a history. These do
// nothing; autograd/grad_hooks.cc has those that do.
struct GradHooks {
  bool (*is_grad_enabled)() = [] { return true; };
  void (*set_grad_enabled)(bool) = [](bool) {};
  bool (*requires_grad)(const Tensor&) = [](const Tensor&) { return false; };
  void (*set_requires_grad)(const Tensor&) = [](const Tensor&) {};
  bool (*is_leaf)(const Tensor&) = [](const Tensor&) { return true; };
  // Whether it has been detached, and got the history back of what a node had saved.
  bool (*is_saved)(const Tensor&) = [](const Tensor&) { return false; };
  // The name of the node that made the tensor; empty for a leaf.
  std::string (*made_by)(const Tensor&) = [](const Tensor&) { return std::string(); };
  Tensor (*base_of)(const Tensor&) = [](const Tensor&) { return Tensor(); };
  Tensor (*grad_of)(const Tensor&) = [](const Tensor&) { return Tensor(); };
  void (*set_grad)(const Tensor&, const Tensor& grad) = [](const Tensor&, const Tensor&) {};
  // Makes the tensor one that was computed, by what no gradient passes: backward that comes to it
  // ends in a NotImplementedError of this text.
  void (*stop_gradient)(const Tensor& tensor, std::string text) = [](const Tensor&, std::string) {};
  // Of an in-place operator, by name: whether its functional form has another derivative.
  bool (*has_own_derivative)(const std::string& op) = [](const std::string&) { return false; };
};

inline constexpr GradHooks kNoGradHooks;
// Set while the program starts.
inline constinit const GradHooks* grad_hooks = &kNoGradHooks;

// Gradients on or off for a scope.
class GradScope {
 public:
  explicit GradScope(bool enabled) : previous_(grad_hooks->is_grad_enabled()) {
    grad_hooks->set_grad_enabled(enabled);
  }
  ~GradScope() { grad_hooks->set_grad_enabled(previous_); }
  GradScope(const GradScope&) = delete;
  GradScope& operator=(const GradScope&) = delete;

 private:
  bool previous_;
};

// What autograd asks of transforms whose tensors stand for values, which it records as well.
struct ValueHooks {
  // The value of such a tensor; undefined for any other, and where values are not recorded.
  Tensor (*recorded_value)(const Tensor&) = [](const Tensor&) { return Tensor(); };
  // A tensor of the transform of `like` that stands for a value.
  Tensor (*with_value)(const Tensor& like, const Tensor& value) =
      [](const Tensor&, const Tensor& value) { return value; };
};

inline constexpr ValueHooks kNoValueHooks;
// Set while the program starts.
inline constinit const ValueHooks* value_hooks = &kNoValueHooks;

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_GRAD_HOOKS_H_
