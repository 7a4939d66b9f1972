#include "switchboard/tools/plan/planner.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/fake/sym_nbytes.h"

namespace sb::plan {
namespace {

// "float32[2, 3], int64[2]"; of long lists only the first.
std::string results_text(absl::Span<const IValue> results) {
  constexpr size_t kShown = 4;
  std::string text;
  size_t count = 0;
  for (const IValue& result : results) {
    result.for_each_tensor([&](const Tensor& t) {
      if (!t.defined() || count++ >= kShown) return;
      // Devices are told with the memory: the CPU's is left out of the text.
      text += (text.empty() ? "" : ", ") + type_text(t.dtype(), t.sym_sizes(), DeviceType::CPU);
    });
  }
  return count > kShown ? str_cat(text, ", and ", count - kShown, " more") : text;
}

}  // namespace

const Planner::KnownOp& Planner::known(const OperatorHandle& op) {
  const auto [found, fresh] = ops_.try_emplace(&op.entry());
  if (fresh) {
    const OpCost* const cost = costs_.find(op.name().name);
    found->second = {op.name().to_string(), cost, !cost && OpOverload(op).has_decomposition()};
  }
  return found->second;
}

void Planner::bury() {
  const size_t now = plan_.ops.size();
  std::erase_if(live_, [&](const Live& live) {
    if (!live.storage.expired()) return false;
    PlannedStorage& storage = plan_.storages[live.index];
    storage.dies = std::max(now, storage.born + 1);
    index_.erase(live.storage.address());
    return true;
  });
}

std::optional<size_t> Planner::find(const Tensor& tensor) const {
  const auto found = index_.find(tensor.storage().get());
  return found == index_.end() ? std::nullopt : std::optional(found->second.index);
}

size_t Planner::add(const Tensor& tensor, bool is_input, size_t born) {
  const size_t index = plan_.storages.size();
  PlannedStorage& storage = plan_.storages.emplace_back();
  storage.device = tensor.device();
  storage.bytes = sym_storage_nbytes(tensor);
  storage.is_input = is_input;
  storage.born = born;
  live_.push_back({WeakIntrusivePtr<StorageImpl>(tensor.storage()), index});
  index_[tensor.storage().get()] = {index, tensor.storage()->nbytes()};
  return index;
}

void Planner::meet_argument(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.storage() || find(tensor)) return;
  // A number that was made a tensor lives for the call; anything else was there before.
  if (tensor.impl()->is_wrapped_number())
    add(tensor, false, plan_.ops.size());
  else
    add(tensor, true, 0);
}

void Planner::meet_result(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.storage()) return;
  const size_t now = plan_.ops.size();
  const auto found = index_.find(tensor.storage().get());
  if (found == index_.end()) {
    add(tensor, false, now);
    return;
  }
  const auto [index, nbytes] = found->second;
  if (nbytes == tensor.storage()->nbytes()) return;
  PlannedStorage& old = plan_.storages[index];
  old.dies = now + 1;
  const bool is_input = old.is_input;
  std::string name = old.name;
  std::erase_if(live_, [index = index](const Live& live) { return live.index == index; });
  plan_.storages[add(tensor, is_input, now)].name = std::move(name);
}

void Planner::add_input(const Tensor& tensor, const std::string& name) {
  SB_CHECK(tensor.defined() && tensor.storage(), "Planner.add_input: '", name,
           "': expected a tensor with a storage, got ", tensor.describe());
  bury();
  const std::optional<size_t> known = find(tensor);
  PlannedStorage& storage = plan_.storages[known ? *known : add(tensor, true, plan_.ops.size())];
  storage.is_input = true;
  // Tied weights have the name of the first.
  if (storage.name.empty()) storage.name = name;
}

void Planner::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const KnownOp& known_op = known(op);
  if (known_op.decomposes) {
    const ModeGuard active(this);
    OpOverload(op).at(DispatchKey::CompositeImplicitAutograd).call_boxed(stack);
    return;
  }
  bury();
  // The call takes its arguments off the stack, and formulas want them afterwards.
  const FunctionSchema& schema = op.schema();
  const std::vector<IValue> arguments(stack->end() - std::ssize(schema.arguments), stack->end());
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) { meet_argument(t); });
  op.call_boxed(stack);
  const absl::Span<const IValue> results =
      absl::MakeConstSpan(*stack).subspan(stack->size() - schema.returns.size());
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) { meet_result(t); });
  for (const IValue& value : results)
    value.for_each_tensor([&](const Tensor& t) { meet_result(t); });
  plan_.ops.push_back({known_op.name, label_, results_text(results),
                       cost_of(known_op.cost, {schema, arguments, results})});
}

Plan Planner::finish() {
  bury();
  for (const Live& live : live_) {
    PlannedStorage& storage = plan_.storages[live.index];
    storage.dies = std::max(plan_.ops.size(), storage.born + 1);
    storage.outlives = true;
  }
  live_.clear();
  index_.clear();
  label_.clear();
  return std::exchange(plan_, {});
}

}  // namespace sb::plan
