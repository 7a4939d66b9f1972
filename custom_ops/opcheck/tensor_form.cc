#include "switchboard/custom_ops/opcheck/tensor_form.h"

#include <utility>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {

using Tensors = std::vector<Tensor>;

Tensors tensors_in(const Stack& values) {
  Tensors tensors;
  for (const IValue& value : values)
    value.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) tensors.push_back(t);
    });
  return tensors;
}

Stack with_tensors(const Stack& values, const Tensors& tensors) {
  size_t next = 0;
  Stack replaced;
  for (const IValue& value : values)
    replaced.push_back(map_tensors(value, [&](const Tensor&) { return tensors.at(next++); }));
  return replaced;
}

TensorFunction tensor_form(const CheckedCall& call) {
  return [op = call.op, arguments = call.arguments](const Tensors& tensors) {
    Stack stack = with_tensors(arguments, tensors);
    op.call_boxed(&stack);
    return tensors_in(stack);
  };
}

TensorFunction pure_form(const CheckedCall& call) {
  std::vector<bool> written;
  for (const NamedTensor& t : call.tensors()) written.push_back(t.is_written);
  return [f = tensor_form(call), written = std::move(written)](const Tensors& tensors) {
    Tensors given = tensors, clones;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!written[i]) continue;
      given[i] = clone(given[i]);
      clones.push_back(given[i]);
    }
    Tensors results = f(given);
    results.insert(results.end(), clones.begin(), clones.end());
    return results;
  };
}

TensorFunction backward_form(const CheckedCall& call) {
  std::vector<bool> wanted;
  for (const NamedTensor& t : call.tensors()) wanted.push_back(requires_grad(t.tensor));
  return [f = pure_form(call), wanted = std::move(wanted)](const Tensors& tensors) {
    const GradModeGuard on(true);
    Tensors given = tensors, leaves;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!wanted[i]) continue;
      given[i] = detach(given[i]);
      set_requires_grad(given[i]);
      leaves.push_back(given[i]);
    }
    Tensors results = f(given), outputs, seeds;
    for (const Tensor& result : results) {
      if (!requires_grad(result)) continue;
      outputs.push_back(result);
      seeds.push_back(ones_like(detach(result)));
    }
    if (outputs.empty()) return results;
    GradOptions options;
    options.allow_unused = true;
    for (const Tensor& g : grad(outputs, leaves, seeds, options))
      if (g.defined()) results.push_back(g);
    for (Tensor& result : results) result = detach(result);
    return results;
  };
}

}  // namespace sb::internal
