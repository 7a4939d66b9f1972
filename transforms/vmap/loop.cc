// The rule that is right for every operator, one example after the other.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/rules.h"
#include "switchboard/transforms/vmap/shapes.h"

namespace sb::batching {
namespace {

// How a tensor lies in its memory, which a loop must not change: the next example is beside it.
struct Place {
  explicit Place(const Tensor& t)
      : tensor(t), storage(t.storage()), sizes(t.sym_sizes().begin(), t.sym_sizes().end()) {}
  bool is_kept() const {
    return tensor.storage() == storage &&
           std::ranges::equal(tensor.sym_sizes(), sizes, [](const SymInt& a, const SymInt& b) {
             return (a == b).guard_bool();
           });
  }

  Tensor tensor;
  Storage storage;
  std::vector<SymInt> sizes;
};

std::vector<IValue> run_example(const BatchedCall& call, int64_t i) {
  std::vector<IValue> arguments;
  std::vector<Place> written;
  for (size_t a = 0; a < call.arguments().size(); ++a) {
    arguments.push_back(map_tensors(call.argument(a), [&](const Tensor& t) {
      const std::optional<Tensor> value = call.value_of(t);
      return value ? select(*value, 0, i) : t;
    }));
    if (call.op().schema().arguments[a].is_write())
      arguments.back().for_each_tensor([&](const Tensor& t) {
        if (t.defined()) written.emplace_back(t);
      });
  }
  std::vector<IValue> results = call.call_below(std::move(arguments));
  for (const Place& place : written) {
    SB_CHECK_NOT_IMPLEMENTED(place.is_kept(), call.who(),
                             ": it gives a tensor that it writes to other memory or sizes, ",
                             place.tensor.describe(), "; a batch lies in one memory");
  }
  return results;
}

Tensor stack_tensors(const BatchedCall& call, size_t result, const std::vector<IValue>& slices) {
  std::vector<Tensor> tensors;
  for (const IValue& slice : slices) tensors.push_back(slice.to_tensor());
  const Tensor& first = tensors[0];
  for (const Tensor& t : tensors) {
    const bool agree = t.defined() == first.defined() &&
                       (!t.defined() || (t.dtype() == first.dtype() && t.dim() == first.dim() &&
                                         t.sizes() == first.sizes()));
    SB_CHECK(agree, call.who(), ": result ", result, " differs from one example to the next, ",
             first.describe(), " and ", t.describe(),
             "; what depends on the data like this has no batch");
  }
  return first.defined() ? stack(tensors, 0) : first;
}

bool same_number(const IValue& a, const IValue& b) {
  return a.tag() == b.tag() && a.to_string() == b.to_string();
}

// What a result is for all examples.
IValue stack_results(const BatchedCall& call, size_t result, const std::vector<IValue>& slices) {
  if (slices[0].is_Tensor()) return stack_tensors(call, result, slices);
  if (slices[0].is_TensorList()) {
    const size_t n = slices[0].to_tensor_list().size();
    std::vector<Tensor> list;
    for (size_t k = 0; k < n; ++k) {
      std::vector<IValue> items;
      for (const IValue& slice : slices) {
        SB_CHECK(slice.to_tensor_list().size() == n, call.who(), ": result ", result,
                 " has other lengths for other examples");
        items.emplace_back(slice.to_tensor_list()[k]);
      }
      list.push_back(stack_tensors(call, result, items));
    }
    return list;
  }
  for (const IValue& slice : slices) {
    SB_CHECK(same_number(slice, slices[0]), call.who(), ": result ", result, " is ",
             slices[0].to_string(), " for one example and ", slice.to_string(),
             " for another; a program cannot go on with both");
  }
  return slices[0];
}

// Without an example: what the shapes tell.
std::vector<IValue> results_of_none(const BatchedCall& call) {
  const std::optional<std::vector<IValue>> example =
      run_on_meta(call.op(), meta_arguments(call.arguments()));
  SB_CHECK_NOT_IMPLEMENTED(example, call.who(),
                           ": there is no example, and without one nobody knows its results");
  std::optional<Device> device;
  call.for_each_tensor([&](const Tensor& t) { device = device.value_or(t.device()); });
  std::vector<IValue> results;
  for (const IValue& result : *example) {
    results.push_back(map_tensors(result, [&](const Tensor& t) {
      return zeros(batch_sizes(0, t), t.dtype(), std::nullopt, device);
    }));
  }
  return results;
}

// Once for each operator of the process.
void warn_of_loop(const BatchedCall& call) {
  static absl::Mutex mutex;
  static auto* const warned = new absl::flat_hash_set<std::string>;
  const std::string name = call.op().name().to_string();
  {
    const absl::MutexLock lock(&mutex);
    if (!warned->insert(name).second) return;
  }
  warn(str_cat(name, ": vmap calls it once for each example, as it has no batching rule"));
}

}  // namespace

std::vector<IValue> loop_over_examples(const BatchedCall& call,
                                       absl::FunctionRef<void(int64_t)> before) {
  const OperatorEntry& entry = call.op().entry();
  SB_CHECK(!entry.has_tag(Tag::dynamic_output_shape), call.who(),
           ": the shape of its result depends on the data, and would differ from one example to "
           "the next");
  SB_CHECK(!entry.has_tag(Tag::data_dependent_output), call.who(),
           ": it gives a number that depends on the data, and may differ from one example to the "
           "next");
  SB_CHECK_NOT_IMPLEMENTED(!call.op().schema().find_argument("storage_offset"), call.who(),
                           ": no batching rule for an operator that takes an offset into a memory, "
                           "which has all examples in it");
  if (call.level().size() == 0) return call.batched_results(results_of_none(call));
  if (call.level().size() > 1) warn_of_loop(call);
  std::vector<std::vector<IValue>> examples;
  for (int64_t i = 0; i < call.level().size(); ++i) {
    before(i);
    examples.push_back(run_example(call, i));
  }
  std::vector<IValue> results;
  for (size_t r = 0; r < call.op().schema().returns.size(); ++r) {
    std::vector<IValue> slices;
    const std::optional<AliasInfo>& alias = call.op().schema().returns[r].alias;
    if (alias && alias->is_write) {
      results.emplace_back();
      continue;
    }
    for (const std::vector<IValue>& example : examples) slices.push_back(example[r]);
    results.push_back(stack_results(call, r, slices));
  }
  return call.batched_results(results);
}

}  // namespace sb::batching
