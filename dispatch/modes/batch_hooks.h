// What autograd asks of vmap, whose tensors have no history of their own: that of their values
// counts. Without vmap no tensor is batched.

#ifndef SWITCHBOARD_DISPATCH_MODES_BATCH_HOOKS_H_
#define SWITCHBOARD_DISPATCH_MODES_BATCH_HOOKS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/core/tensor.h"

namespace sb::internal {

// Gradients of outputs, by inputs, from gradients of the outputs.
using GradFunction = absl::FunctionRef<std::vector<Tensor>(
    const std::vector<Tensor>&, const std::vector<Tensor>&, const std::vector<Tensor>&)>;

struct BatchHooks {
  bool (*is_batched)(const Tensor&) = [](const Tensor&) { return false; };
  // All examples of a batched tensor.
  Tensor (*value)(const Tensor&) = [](const Tensor& t) { return t; };
  // Computes gradients of outputs, some of which are batched, by `grad` of their values.
  std::vector<Tensor> (*grad)(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& grad_outputs, GradFunction grad) =
      [](const std::vector<Tensor>&, const std::vector<Tensor>&, const std::vector<Tensor>&,
         GradFunction) { return std::vector<Tensor>(); };
};

inline constexpr BatchHooks kNoBatchHooks;
// Set while the program starts.
inline constinit const BatchHooks* batch_hooks = &kNoBatchHooks;

inline bool is_batched(const Tensor& tensor) {
  return tensor.key_set().has(DispatchKey::FuncTorchBatched) && batch_hooks->is_batched(tensor);
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_BATCH_HOOKS_H_
