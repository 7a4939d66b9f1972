#include "switchboard/autograd/formula_node.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {

TensorVector FormulaNode::apply(TensorVector grads) {
  TensorVector out(edges().size());
  if (std::none_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); }))
    return out;
  if (grads.size() < num_results_) grads.resize(num_results_);
  try {
    apply_formulas(grads, &out);
  } catch (const Error& error) {
    // An operator of the formula does not know whose gradient it computes.
    const std::string own = name();
    const bool named = std::string_view(error.what()).find(own) != std::string_view::npos;
    // What is of a kind of its own holds more than a message.
    const std::string_view kind = error.kind();
    if (named || (kind != "RuntimeError" && kind != "IndexError" && kind != "NotImplementedError"))
      throw;
    rethrow_with_context(error, str_cat(own, ": "));
  }
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
