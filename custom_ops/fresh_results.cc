#include "switchboard/custom_ops/fresh_results.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"

namespace sb::internal {

void FreshResults::note_argument(const IValue& value) {
  value.for_each_tensor([&](const Tensor& t) {
    if (t.defined() && t.storage()) arguments_.push_back({t.storage(), num_arguments_});
  });
  ++num_arguments_;
}

void FreshResults::check_result(const IValue& value) {
  value.for_each_tensor([&](const Tensor& t) {
    if (!t.defined() || !t.storage()) return;
    const auto shared = [&](const Seen& seen) { return seen.storage == t.storage(); };
    const auto argument = std::find_if(arguments_.begin(), arguments_.end(), shared);
    const auto result = std::find_if(results_.begin(), results_.end(), shared);
    if (argument == arguments_.end() && result == results_.end()) {
      results_.push_back({t.storage(), num_results_});
      return;
    }
    const FunctionSchema& schema = op_.schema();
    SB_THROW(RuntimeError, op_.name().to_string(), ": result ", num_results_,
             " shares memory with ",
             argument != arguments_.end()
                 ? str_cat("argument '", schema.arguments[argument->index].name, "'")
                 : str_cat("result ", result->index),
             "; expected new tensors from a custom operator whose schema says nothing else: ",
             schema.to_string());
  });
  ++num_results_;
}

}  // namespace sb::internal
