#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {
namespace {

// Numbers that tell the elements of a gradient apart: 0.5, 0.75, ...
Tensor weights_like(const Tensor& t) {
  Tensor w = arange(t.numel(), DType::Float64);
  w = add_Scalar(mul_Scalar(w, 0.25), 0.5);
  return _to_copy(reshape(w, t.sizes()), t.dtype());
}

// The gradients of sum(weights * t) over the ts that require one, by the leaves; zeros for one that
// does not come in.
Tensors gradients(const Tensors& ts, const Tensors& leaves) {
  Tensors outputs, weights;
  for (const Tensor& t : ts) {
    if (!requires_grad(t)) continue;
    outputs.push_back(t);
    weights.push_back(weights_like(t));
  }
  Tensors grads(leaves.size());
  if (!outputs.empty())
    grads = grad(outputs, leaves, weights, {.create_graph = true, .allow_unused = true});
  for (size_t i = 0; i < leaves.size(); ++i)
    if (!grads[i].defined()) grads[i] = zeros_like(leaves[i]);
  return grads;
}

Tensors run(const TensorFunction& f, const internal::ArgumentPlan& plan, const Tensors& inputs) {
  const GradModeGuard on(true);
  // The program has clones, which it may write to.
  const auto [leaves, copies] = copy_recorded(inputs, plan);
  Tensors results = f(copies.inputs);
  results.insert(results.end(), copies.memories.begin(), copies.memories.end());
  const Tensors first = gradients(results, leaves);
  const Tensors second = gradients(first, leaves);
  for (Tensor& t : results) t = detach(t);
  // How a gradient lies in memory nobody promises.
  for (const Tensor& t : first) results.push_back(clone(t, MemoryFormat::Contiguous));
  for (const Tensor& t : second) results.push_back(clone(t, MemoryFormat::Contiguous));
  for (Tensor& t : results) t = detach(t);
  return results;
}

}  // namespace

// The results, what the program leaves in its inputs, gradients, and second gradients.
Layer grad_layer() {
  return {.name = "grad",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan& plan) -> TensorFunction {
            return
                [f = std::move(f), &plan](const Tensors& inputs) { return run(f, plan, inputs); };
          },
          .words = {"grad", "deriv", "backward", "differentia"}};
}

}  // namespace sb::composition
