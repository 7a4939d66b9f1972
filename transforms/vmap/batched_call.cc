#include "switchboard/transforms/vmap/batched_call.h"

#include <iterator>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/no_kernel.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/rules.h"

namespace sb::batching {
namespace {

absl::Span<const IValue> arguments_on(const OperatorHandle& op, const Stack& stack) {
  return absl::MakeConstSpan(stack).last(op.entry().num_arguments());
}

// The innermost level that an argument is batched at; nullptr if none is.
Level* innermost_level(const OperatorHandle& op, const Stack& stack) {
  Level* innermost = nullptr;
  for (const IValue& value : arguments_on(op, stack)) {
    value.for_each_tensor([&](const Tensor& t) {
      const BatchedTensorImpl* const impl = batched_impl(t);
      if (impl && (!innermost || innermost->depth() < impl->level()->depth()))
        innermost = impl->level().get();
    });
  }
  return innermost;
}

// A call that has batched tensors, and did not come by its level: that is over, or taken away.
void call_without_level(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  Level& level = level_of_call(op, keys, *stack);
  const IntrusivePtr<Level> kept = IntrusivePtr<Level>::share(&level);
  call_batched(&level, op, keys, stack);
}

SB_LIBRARY_IMPL(_, FuncTorchBatched, m) {
  // In the place of the refusal that is there where no program links vmap.
  m.allow_override();
  m.fallback(&call_without_level);
}

bool has_own_rule(const OperatorHandle& op) {
  const internal::CallPin pin;
  const ResolutionRule rule =
      op.entry().resolved_table().rules[slot_of(DispatchKey::FuncTorchBatched)];
  return rule == ResolutionRule::Kernel || rule == ResolutionRule::BatchedKernel;
}

bool is_made_of_others(const OperatorHandle& op, DispatchKeySet keys) {
  const internal::CallPin pin;
  if (internal::is_implicit_composite(op, keys)) return true;
  // as_strided_scatter copies a whole memory, of which each example has its own.
  if (!op.entry().has_tag(Tag::derived_through) ||
      op.name().name.starts_with("aten::as_strided_scatter"))
    return false;
  const DispatchKey dense = runtime_key(DispatchKey::Dense, keys.highest_backend());
  return op.entry().resolved_table().rules[slot_of(dense)] == ResolutionRule::DefaultBackendKernel;
}

}  // namespace

bool draws_randomly(const OperatorHandle& op) {
  return op.entry().has_tag(Tag::nondeterministic_seeded);
}

bool has_batched(const Level& level, const OperatorHandle& op, const Stack& stack) {
  bool found = false;
  for (const IValue& value : arguments_on(op, stack))
    value.for_each_tensor([&](const Tensor& t) { found |= batched_impl(t, level) != nullptr; });
  return found;
}

void check_written_are_batched(const BatchedCall& call) {
  const std::vector<Argument>& schema = call.op().schema().arguments;
  for (size_t i = 0; i < schema.size(); ++i) {
    if (!schema[i].is_write()) continue;
    call.argument(i).for_each_tensor([&](const Tensor& t) {
      SB_CHECK(!t.defined() || call.is_batched(t), call.who(), ": argument ", i, " '",
               schema[i].name, "', ", t.describe(),
               ", is written to and is the same for all examples, while what is written is not; "
               "use an operator that gives a new tensor, or begin with a batched one");
    });
  }
}

Level& level_of_call(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack) {
  Level* const level = innermost_level(op, stack);
  if (!level) internal::throw_no_kernel(op.entry(), keys, stack);
  SB_CHECK(!level->has_ended(), op.name().to_string(), ": a tensor of a vmap that is over, of ",
           level->name(), ", has escaped from its function");
  return *level;
}

void call_batched(Level* level, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (has_own_rule(op) && has_batched(*level, op, *stack))
    return op.redispatch_boxed(DispatchKey::FuncTorchBatched, stack);
  if (is_made_of_others(op, keys)) {
    const FunctionTransformGuard again(level);
    return op.redispatch_boxed(runtime_key(DispatchKey::Dense, keys.highest_backend()), stack);
  }
  std::optional<std::vector<IValue>> results;
  {
    const BatchedCall call(level, op, *stack);
    if (draws_randomly(op)) {
      results = random_call(call);
    } else {
      check_written_are_batched(call);
      for (BatchingRule rule : kClassRules)
        if ((results = rule(call))) break;
      if (!results) results = loop_over_examples(call);
    }
  }
  stack->resize(stack->size() - op.entry().num_arguments());
  std::move(results->begin(), results->end(), std::back_inserter(*stack));
}

BatchedCall::BatchedCall(Level* level, const OperatorHandle& op, const Stack& stack)
    : level_(level), op_(op) {
  const absl::Span<const IValue> arguments = arguments_on(op, stack);
  arguments_.assign(arguments.begin(), arguments.end());
}

std::string BatchedCall::who() const {
  return str_cat(op_.name().to_string(), ": ", level_->name());
}

std::optional<Tensor> BatchedCall::value_of(const Tensor& tensor) const {
  const BatchedTensorImpl* const impl = batched_impl(tensor, *level_);
  return impl ? std::optional<Tensor>(impl->value()) : std::nullopt;
}

void BatchedCall::for_each_tensor(absl::FunctionRef<void(const Tensor&)> f) const {
  for (const IValue& value : arguments_) {
    value.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) f(t);
    });
  }
}

std::vector<IValue> BatchedCall::call_below(std::vector<IValue> arguments) const {
  op_.call_boxed(&arguments);
  return arguments;
}

std::optional<size_t> BatchedCall::returned_argument(size_t i) const {
  const FunctionSchema& schema = op_.schema();
  const std::optional<AliasInfo>& alias = schema.returns[i].alias;
  if (!alias || !alias->is_write) return std::nullopt;
  for (size_t k = 0; k < schema.arguments.size(); ++k)
    if (schema.arguments[k].is_write() && schema.arguments[k].alias->before == alias->before)
      return k;
  return std::nullopt;
}

std::vector<IValue> BatchedCall::batched_results(const std::vector<IValue>& values) const {
  std::vector<IValue> results;
  for (size_t i = 0; i < values.size(); ++i) {
    if (const std::optional<size_t> argument = returned_argument(i)) {
      results.push_back(arguments_[*argument]);
      continue;
    }
    results.push_back(
        map_tensors(values[i], [&](const Tensor& t) { return make_batched(t, level_); }));
  }
  return results;
}

}  // namespace sb::batching
