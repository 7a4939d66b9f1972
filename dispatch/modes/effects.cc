#include "switchboard/dispatch/modes/effects.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

constinit thread_local const OrderedEffectGuard* innermost = nullptr;

struct Registered {
  Effect effect;
  SourceLocation where;
};
// Never destroyed: handles of static objects may outlive it otherwise.
struct Registry {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::map<const OperatorEntry*, Registered> effects;
  std::atomic<size_t> size{0};  // most programs have none, and ask without the lock
};
Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

std::optional<Effect> registered_effect(const OperatorEntry& op) {
  Registry& all = registry();
  if (all.size.load(std::memory_order_acquire) == 0) return std::nullopt;
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.effects.find(&op);
  return found == all.effects.end() ? std::nullopt : std::optional(found->second.effect);
}

bool schema_says_so(const FunctionSchema& schema) {
  const auto has_state = [](const Argument& a) {
    return a.type.base == BaseType::Class && !is_constant_class(a.type.class_name);
  };
  if (std::any_of(schema.arguments.begin(), schema.arguments.end(), has_state)) return true;
  return schema.returns.empty() && !schema.is_mutable();
}

// Whether the call comes to a fake mode, which runs no kernel.
bool is_fake_call(const OperatorHandle& op, const Stack& stack) {
  if (get_mode(ModeKey::Fake)) return true;
  bool fake = false;
  for (const IValue& value : absl::MakeConstSpan(stack).last(op.entry().num_arguments())) {
    value.for_each_tensor([&](const Tensor& t) {
      if (!t.defined() || !t.impl()->mode_data()) return;
      fake = fake || t.impl()->mode_data()->mode().mode_key() == ModeKey::Fake;
    });
  }
  return fake;
}

const ExplainMode explain_without_effects(typeid(WithoutEffects),
                                          [](CallPath& path, DispatchMode&, const PathCall& c) {
                                            if (!WithoutEffects::concerns(c.op, c.arguments))
                                              path.call(c.op, c.arguments);
                                          });

}  // namespace

bool has_ordered_effect(const OperatorHandle& op) {
  for (const OrderedEffectGuard* guard = innermost; guard; guard = guard->outer_)
    if (guard->op_ == &op.entry()) return true;
  if (const std::optional<Effect> effect = registered_effect(op.entry()))
    return *effect == Effect::Ordered;
  return schema_says_so(op.schema());
}

RegistrationHandle register_effect(const OperatorHandle& op, Effect effect, SourceLocation where) {
  Registry& all = registry();
  const OperatorEntry* const entry = &op.entry();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto [there, is_new] = all.effects.try_emplace(entry, Registered{effect, where});
    SB_CHECK(is_new, "register_effect: ", op.name().to_string(),
             " has its effect registered already, at ", there->second.where.file_name(), ":",
             there->second.where.line(), "; got another at ", where.file_name(), ":", where.line());
    all.size.store(all.effects.size(), std::memory_order_release);
  }
  return RegistrationHandle([entry] {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.effects.erase(entry);
    r.size.store(r.effects.size(), std::memory_order_release);
  });
}

OrderedEffectGuard::OrderedEffectGuard(const OperatorHandle& op)
    : op_(&op.entry()), outer_(innermost) {
  innermost = this;
}

OrderedEffectGuard::~OrderedEffectGuard() { innermost = outer_; }

void WithoutEffects::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  if (!pass_over(who_, op, stack)) op.call_boxed(stack);
}

bool WithoutEffects::concerns(const OperatorHandle& op, const Stack& stack) {
  return has_ordered_effect(op) && !is_fake_call(op, stack);
}

bool WithoutEffects::pass_over(std::string_view who, const OperatorHandle& op, Stack* stack) {
  if (!concerns(op, *stack)) return false;
  SB_CHECK_NOT_IMPLEMENTED(op.schema().returns.empty(), op.name().to_string(), ": ", who,
                           " calls it and is traced, for which an operator with an effect must not "
                           "run, and only that would tell its results; trace on fake tensors");
  stack->resize(stack->size() - op.entry().num_arguments());
  return true;
}

}  // namespace sb
