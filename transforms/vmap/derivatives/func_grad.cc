#include "switchboard/transforms/vmap/derivatives/func_grad.h"

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::batching {
namespace {

using Tensors = std::vector<Tensor>;

// For a scope, calls go below all levels of the thread. Autograd is there: examples do not depend
// on each other, so that the gradients of all are those of the sum of what each gives.
class BelowAllLevels {
 public:
  BelowAllLevels() {
    while (current_transform()) lowered_.push_back(std::make_unique<internal::LoweredTransform>());
  }

 private:
  std::vector<std::unique_ptr<internal::LoweredTransform>> lowered_;
};

// A tensor with the batches of all running levels in front, that of the outermost first.
Tensor of_all_levels(Tensor tensor) {
  const std::vector<Level*> levels = Level::running();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    tensor = all_examples(tensor, **level);
  return tensor;
}

Tensor one_example(Tensor all) {
  for (Level* const level : Level::running()) all = make_batched(all, level);
  return all;
}

// What the gradient is taken by, in the place of an input: of all examples, so that each has one.
Tensor make_leaf(const Tensor& input) {
  const Tensor all = of_all_levels(input);
  if (requires_grad(all)) return alias(all);
  const Tensor leaf = detach(all);
  set_requires_grad(leaf);
  return leaf;
}

// Whether a result depends on other tensors that require a gradient.
bool depends_on_others(const Tensor& result, const Tensors& leaves) {
  absl::flat_hash_set<const GradNode*> seen;
  for (const Tensor& leaf : leaves) {
    if (!is_leaf(leaf)) return true;
    seen.insert(gradient_edge(leaf).node.get());
  }
  std::vector<const GradNode*> left{grad_fn(result).get()};
  while (!left.empty()) {
    const GradNode* const node = left.back();
    left.pop_back();
    if (!node || !seen.insert(node).second) continue;
    if (node->edges().empty()) return true;
    for (const Edge& edge : node->edges()) left.push_back(edge.node.get());
  }
  return false;
}

}  // namespace

Tensors call_func_grad(const IValue& function, const Tensors& inputs,
                       const std::vector<size_t>& argnums) {
  const control_flow::FunctionArgument f("func_grad", "f", function);
  const bool was_enabled = is_grad_enabled();
  const GradModeGuard enabled(true);
  Tensors given = inputs, leaves;
  {
    const BelowAllLevels below;
    for (size_t i : argnums) {
      SB_CHECK_INDEX(i < inputs.size(), "func_grad: argnums: expected a number below ",
                     inputs.size(), ", the number of inputs, got ", i);
      leaves.push_back(make_leaf(inputs[i]));
      given[i] = one_example(leaves.back());
    }
  }
  const Tensors results = f(given);
  SB_CHECK(results.size() == 1, "func_grad: f: expected one result, got ", results.size());
  SB_CHECK(results[0].dim() == 0, "func_grad: f: expected a result without dimensions, got ",
           results[0].describe());
  const BelowAllLevels below;
  const Tensor all = of_all_levels(results[0]);
  Tensors gradients(leaves.size());
  if (requires_grad(all)) {
    gradients =
        grad({all}, leaves, {ones_like(all)},
             {.create_graph = was_enabled && depends_on_others(all, leaves), .allow_unused = true});
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    gradients[i] = one_example(gradients[i].defined() ? gradients[i] : zeros_like(leaves[i]));
  return gradients;
}

}  // namespace sb::batching
