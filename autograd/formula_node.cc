#include "switchboard/autograd/formula_node.h"

#include <algorithm>
#include <mutex>

namespace sb::internal {

TensorVector FormulaNode::apply(TensorVector grads) {
  TensorVector out(edges().size());
  if (std::none_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); }))
    return out;
  if (grads.size() < num_results_) grads.resize(num_results_);
  apply_formulas(grads, &out);
  return out;
}

void FormulaNode::release_saved() {
  const std::lock_guard<std::mutex> lock(mutex());
  release_stored();
}

bool FormulaNode::wants_any_from(size_t first) const {
  return wants_any_of(first, edges().size() - first, nullptr);
}

bool FormulaNode::wants_any_of(size_t first, size_t count, bool* needs) const {
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    const bool need = static_cast<bool>(edge(first + i));
    any = any || need;
    if (needs) needs[i] = need;
  }
  return any;
}

}  // namespace sb::internal
