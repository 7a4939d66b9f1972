// Gradients of what is batched, inside of vmap: those of all examples, of which none depends on
// another.

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/batch_hooks.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::batching {
namespace {

using Tensors = std::vector<Tensor>;

Level& innermost_level(const Tensors& tensors) {
  Level* innermost = nullptr;
  for (const Tensor& t : tensors) {
    const BatchedTensorImpl* const impl = batched_impl(t);
    if (impl && (!innermost || innermost->depth() < impl->level()->depth()))
      innermost = impl->level().get();
  }
  SB_ASSERT(innermost);
  return *innermost;
}

Tensor value_at(const Tensor& tensor, const Level& level, const char* what, size_t i) {
  const BatchedTensorImpl* const impl = batched_impl(tensor, level);
  SB_CHECK_NOT_IMPLEMENTED(impl, "grad: ", what, " ", i, ", ", tensor.describe(),
                           ", is the same for all examples of ", level.name(),
                           ", so that its gradient would be their sum; give vmap a copy for each "
                           "example, by expand()");
  return impl->value();
}

// The gradient of all examples of an output; undefined where it is to be made up.
Tensor all_of_gradient(const Tensor& grad, const Tensor& output, const Level& level) {
  if (!grad.defined()) {
    SB_CHECK(output.numel() == 1,
             "grad: a gradient can be made up for a tensor of one element only, got ",
             output.describe(), "; give its gradient");
    return ones_like(batched_impl(output, level)->value());
  }
  if (const BatchedTensorImpl* const impl = batched_impl(grad, level)) return impl->value();
  std::vector<SymInt> sizes{level.size()};
  sizes.insert(sizes.end(), grad.sym_sizes().begin(), grad.sym_sizes().end());
  return expand(grad, sizes);
}

Tensors grad_of_batched(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs,
                        internal::GradFunction grad) {
  Level& level = innermost_level(outputs);
  SB_CHECK(grad_outputs.empty() || grad_outputs.size() == outputs.size(), "grad: expected ",
           outputs.size(), " gradients, one for each output, got ", grad_outputs.size());
  Tensors values, of, grads;
  for (size_t i = 0; i < outputs.size(); ++i)
    values.push_back(value_at(outputs[i], level, "output", i));
  for (size_t i = 0; i < inputs.size(); ++i) of.push_back(value_at(inputs[i], level, "input", i));
  for (size_t i = 0; i < outputs.size(); ++i)
    grads.push_back(
        all_of_gradient(grad_outputs.empty() ? Tensor() : grad_outputs[i], outputs[i], level));
  Tensors results = grad(values, of, grads);
  for (Tensor& result : results) result = make_batched(result, &level);
  return results;
}

constexpr internal::BatchHooks kHooks{
    .is_batched = [](const Tensor& t) { return batched_impl(t) != nullptr; },
    .value = [](const Tensor& t) { return batched_impl(t)->value(); },
    .grad = grad_of_batched,
};

[[maybe_unused]] const bool registered = (internal::batch_hooks = &kHooks, true);

}  // namespace
}  // namespace sb::batching
