#include "switchboard/custom_ops/fresh_results.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

ResultPromise result_promise(const FunctionSchema& schema, TagSet tags) {
  if (tags.has(Tag::inplace) || tags.has(Tag::out)) return ResultPromise::Written;
  const bool is_said = std::any_of(schema.returns.begin(), schema.returns.end(),
                                   [](const Return& r) { return r.alias.has_value(); });
  return is_said ? ResultPromise::None : ResultPromise::New;
}

void ResultCheck::note_argument(const IValue& value) {
  if (promise_ == ResultPromise::Written) {
    if (op_.schema().arguments[num_arguments_++].is_write()) written_.push_back(value);
    return;
  }
  value.for_each_tensor([&](const Tensor& t) {
    if (t.defined() && t.storage()) arguments_.push_back({t.storage(), num_arguments_});
  });
  ++num_arguments_;
}

void ResultCheck::check_written(const IValue& value) const {
  const Tensor& expected = written_[num_results_].to_tensor();
  const auto is_expected = [&] {
    const Tensor& got = value.to_tensor();
    return expected.defined() ? got.defined() && got.is_same(expected) : !got.defined();
  };
  if (value.is_Tensor() && is_expected()) return;
  const FunctionSchema& schema = op_.schema();
  size_t argument = 0;
  for (size_t left = num_results_ + 1; left > 0; ++argument)
    if (schema.arguments[argument].is_write()) --left;
  SB_THROW(RuntimeError, op_.name().to_string(), ": result ", num_results_, " is not argument '",
           schema.arguments[argument - 1].name,
           "'; expected the very tensors that are written to from an operator that is tagged ",
           op_.entry().has_tag(Tag::inplace) ? "inplace" : "out", ": ", schema.to_string());
}

void ResultCheck::check_result(const IValue& value) {
  if (promise_ == ResultPromise::Written) {
    check_written(value);
    ++num_results_;
    return;
  }
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

KernelFunction make_checked_kernel(const KernelFunction& kernel, ResultPromise promise) {
  if (promise == ResultPromise::None || kernel.entries.is_fallthrough()) return kernel;
  KernelFunction checked = make_checked_boxed_kernel(
      [kernel](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
        kernel.entries.boxed(kernel.entries, op, keys, stack);
      },
      promise);
  checked.signature = kernel.signature;
  return checked;
}

}  // namespace sb::internal
