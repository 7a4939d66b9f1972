// What transforms ask of autograd, where a program links it: without it nothing requires a
// gradient.

#ifndef SWITCHBOARD_DISPATCH_MODES_GRAD_HOOKS_H_
#define SWITCHBOARD_DISPATCH_MODES_GRAD_HOOKS_H_

#include "switchboard/core/tensor.h"

namespace sb::internal {

// Functions of autograd/variable.h and autograd/grad_mode.h, and two for functional tensors. These
// do nothing; autograd/grad_hooks.cc has the others.
struct GradHooks {
  bool (*is_grad_enabled)() = [] { return true; };
  void (*set_grad_enabled)(bool) = [](bool) {};
  bool (*requires_grad)(const Tensor&) = [](const Tensor&) { return false; };
  void (*set_requires_grad)(const Tensor&) = [](const Tensor&) {};
  bool (*is_leaf)(const Tensor&) = [](const Tensor&) { return true; };
  Tensor (*base_of)(const Tensor&) = [](const Tensor&) { return Tensor(); };
  Tensor (*grad_of)(const Tensor&) = [](const Tensor&) { return Tensor(); };
  void (*set_grad)(const Tensor&, const Tensor& grad) = [](const Tensor&, const Tensor&) {};
  // Sends the gradient of `result`, a fresh tensor, on to `old`, which requires one, as it is.
  void (*pass_gradient)(const Tensor& result, const Tensor& old) = [](const Tensor&,
                                                                      const Tensor&) {};
  // Makes `functional` look as `plain` does: a leaf that requires a gradient, or one that was
  // computed, where backward stops with an error.
  void (*mirror)(const Tensor& plain, const Tensor& functional) = [](const Tensor&, const Tensor&) {
  };
};

inline constexpr GradHooks kNoGradHooks;
// Set while the program starts.
inline constinit const GradHooks* grad_hooks = &kNoGradHooks;

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_GRAD_HOOKS_H_
