#include "switchboard/dispatch/objects/higher_order_operator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <typeinfo>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/objects/inspect_higher_order.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/resolve_key.h"
#include "switchboard/dispatch/schema/schema_parser.h"

namespace sb {
namespace {

struct Registry {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::map<std::string, HigherOrderOperator*, std::less<>> operators;
};

// Never destroyed: operators may be static objects.
Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

DispatchKeySet keys_of(const std::vector<IValue>& arguments) {
  DispatchKeySet keys;
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) { keys |= t.key_set(); });
  return keys;
}

[[noreturn, gnu::cold]] void throw_no_mode_rule(const OperatorBase& op, const DispatchMode& mode) {
  SB_THROW(NotImplementedError, op.name(), ": no rule for the mode ", mode.name(), " (",
           internal::type_name(typeid(mode)),
           mode.mode_key() == ModeKey::Fake
               ? "); register one with register_fake()"
               : "); register one with impl_mode(), or let the mode say "
                 "supports_higher_order_operators()",
           "\nregistered: ", op.describe_rules());
}

// The rule for this mode, for traces; of a mode without one, its name.
std::string place_for(const OperatorBase& op, const DispatchMode& mode) {
  const std::string place = internal::place_of_rule(op, typeid(mode));
  return place.empty() ? str_cat("(", mode.name(), ")") : place;
}

// Shows the call to a mode that was popped, and passes it on. `Guard` makes the mode active again.
template <class Guard>
void watch(const HigherOrderOperator& op, DispatchMode& mode, Stack* stack) {
  for (IValue& value : *stack) {
    value = Callable::map(value, [&mode](const IntrusivePtr<Callable>& f) {
      return [&mode, f](std::vector<IValue> arguments) {
        const Guard active(&mode);
        return (*f)(std::move(arguments));
      };
    });
  }
  mode.watch_higher_order(op.name(), stack, [&] { op.call_boxed(stack); });
}

// Runs the rule for this mode; if that declines, those for the modes that own arguments.
template <class Guard>
void run_rules(const HigherOrderOperator& op, DispatchMode& mode, DispatchKeySet keys,
               Stack* stack) {
  internal::run_or_ask_owners(
      mode, *stack, stack->size(), [&] { return op.name(); },
      [&](DispatchMode& m) {
        const internal::TracedRule traced(op.name(), keys.highest_key(),
                                          [&] { return place_for(op, m); });
        if (const OperatorBase::ModeRule* const rule = op.find_mode_rule(typeid(m)))
          (*rule)(m, keys, stack);
        else if (m.only_watches())
          watch<Guard>(op, m, stack);
        else if (m.supports_higher_order_operators())
          m.call_higher_order(op, keys, stack);
        else
          throw_no_mode_rule(op, m);
      });
}

// The rule that makes the operator a composition of others, which modes and transforms without a
// rule for it see in its place.
const internal::OwnKernel* composition_of(const OperatorBase& op) {
  return op.find_kernel(DispatchKey::CompositeImplicitAutograd);
}

void run_composition(const OperatorBase& op, const internal::OwnKernel& composition,
                     DispatchKeySet keys, Stack* stack) {
  const internal::TracedRule traced(op.name(), keys.highest_key(), [&] {
    return to_string(internal::row_at(op, DispatchKey::CompositeImplicitAutograd).where);
  });
  composition(keys, stack);
}

void call_transform(const OperatorBase& op, DispatchKeySet keys, Stack* stack) {
  if (const FunctionTransform* const top = current_transform()) {
    const internal::OwnKernel* const composition = composition_of(op);
    if (composition && !op.find_transform_rule(top->type()))
      return run_composition(op, *composition, keys, stack);
  }
  const internal::LoweredTransform lowered;
  FunctionTransform* const transform = lowered.transform();
  SB_CHECK(transform, op.name(),
           ": entered at FuncTorchDynamicLayerFrontMode, but no function transform is active");
  const OperatorBase::TransformRule* const rule = op.find_transform_rule(transform->type());
  SB_CHECK_NOT_IMPLEMENTED(
      rule, op.name(), ": no rule for the transform ", transform->name(), " (",
      to_string(transform->type()),
      "); register one with impl_transform()\nregistered: ", op.describe_rules());
  const internal::TracedRule traced(op.name(), keys.highest_key(),
                                    [&] { return internal::place_of_rule(op, transform->type()); });
  (*rule)(*transform, keys, stack);
}

void call_mode(const HigherOrderOperator& op, DispatchKeySet keys, Stack* stack) {
  DispatchMode* mode = current_mode();
  if (!mode) mode = internal::owner_of(*stack, [&] { return op.name(); });
  SB_CHECK(mode, op.name(),
           ": entered at Python, but no mode is active and no argument belongs to one");
  const internal::OwnKernel* const composition = composition_of(op);
  if (composition && !op.find_mode_rule(typeid(*mode)))
    return run_composition(op, *composition, keys, stack);
  const internal::PoppedMode popped;
  run_rules<ModeGuard>(op, *mode, keys, stack);
}

void call_pre_dispatch_mode(const HigherOrderOperator& op, DispatchKeySet keys, Stack* stack) {
  DispatchMode& mode = *current_pre_dispatch_mode();
  const internal::OwnKernel* const composition = composition_of(op);
  if (composition && !op.find_mode_rule(typeid(mode)))
    return run_composition(op, *composition, keys, stack);
  const internal::PoppedPreDispatchMode popped;
  run_rules<PreDispatchModeGuard>(op, mode, keys, stack);
}

void run(const OperatorBase& op, const KernelFunction& kernel, DispatchKeySet keys, Stack* stack) {
  const DispatchKey key = keys.highest_key();
  const internal::TracedRule traced(op.name(), key,
                                    [&] { return to_string(internal::row_at(op, key).where); });
  (*static_cast<const internal::OwnKernel*>(kernel.state.get()))(keys, stack);
}

}  // namespace

HigherOrderOperator::HigherOrderOperator(std::string name, std::vector<std::string> parameters)
    : OperatorBase(str_cat("higher_order::", name)),
      opname_(std::move(name)),
      parameters_(std::move(parameters)) {
  SB_CHECK_VALUE(is_identifier(opname_), "HigherOrderOperator: expected an identifier, got '",
                 opname_, "'");
  for (size_t i = 0; i < parameters_.size(); ++i) {
    SB_CHECK_VALUE(is_identifier(parameters_[i]), this->name(), ": parameter ", i,
                   ": expected an identifier, got '", parameters_[i], "'");
    SB_CHECK_VALUE(std::find(parameters_.begin(), parameters_.begin() + static_cast<ptrdiff_t>(i),
                             parameters_[i]) == parameters_.begin() + static_cast<ptrdiff_t>(i),
                   this->name(), ": parameter ", i, " '", parameters_[i], "': there twice");
  }
  take_from_mask(kHigherOrderFallthroughKeys | DispatchKey::Observed);
  std::lock_guard<std::mutex> lock(registry().mutex);
  SB_CHECK(registry().operators.try_emplace(opname_, this).second, this->name(),
           ": a higher-order operator of that name is there already");
}

HigherOrderOperator::~HigherOrderOperator() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().operators.erase(opname_);
}

DispatchKeySet HigherOrderOperator::non_fallthrough_keys() const {
  internal::CallPin pin;
  return mask();
}

void HigherOrderOperator::fallthrough(DispatchKey key) {
  SB_CHECK_VALUE(!DispatchKeySet(key).empty(), name(), ": calls cannot pass over ", to_string(key),
                 ", which is in no key set");
  take_from_mask(key);
}

DispatchKeySet HigherOrderOperator::call_keys(const std::vector<IValue>& arguments) const {
  internal::CallPin pin;
  return (keys_of(arguments) | dispatch_tls.included) & dispatch_tls.kept & mask();
}

std::vector<IValue> HigherOrderOperator::operator()(std::vector<IValue> arguments) const {
  call_boxed(&arguments);
  return arguments;
}

std::vector<IValue> HigherOrderOperator::operator()(
    std::vector<IValue> positional, std::vector<std::pair<std::string, IValue>> keyword) const {
  return (*this)(bind(std::move(positional), std::move(keyword)));
}

std::vector<IValue> HigherOrderOperator::bind(
    std::vector<IValue> positional, std::vector<std::pair<std::string, IValue>> keyword) const {
  if (keyword.empty()) return positional;
  SB_CHECK_TYPE(positional.size() <= parameters_.size(), name(), ": got ", positional.size(),
                " positional arguments, it takes ", parameters_.size());
  std::vector<std::optional<IValue>> given(parameters_.size());
  for (size_t i = 0; i < positional.size(); ++i) given[i] = std::move(positional[i]);
  for (auto& [key, value] : keyword) {
    const auto found = std::find(parameters_.begin(), parameters_.end(), key);
    SB_CHECK_TYPE(found != parameters_.end(), name(), ": unknown argument '", key,
                  "'; it takes: ", absl::StrJoin(parameters_, ", "));
    std::optional<IValue>& place = given[static_cast<size_t>(found - parameters_.begin())];
    SB_CHECK_TYPE(!place, name(), ": argument ", found - parameters_.begin(), " '", key,
                  "' given twice");
    place = std::move(value);
  }
  std::vector<IValue> arguments;
  for (size_t i = 0; i < given.size(); ++i) {
    SB_CHECK_TYPE(given[i], name(), ": argument ", i, " '", parameters_[i], "' is missing");
    arguments.push_back(*std::move(given[i]));
  }
  return arguments;
}

std::vector<IValue> HigherOrderOperator::redispatch(DispatchKeySet keys,
                                                    std::vector<IValue> arguments) const {
  redispatch_boxed(keys, &arguments);
  return arguments;
}

void HigherOrderOperator::call_boxed(Stack* stack) const {
  redispatch_boxed(call_keys(*stack), stack);
}

void HigherOrderOperator::redispatch_boxed(DispatchKeySet keys, Stack* stack) const {
  internal::CallPin pin;
  const DispatchKey key = keys.highest_key();
  if (const KernelFunction* const cached = cache().find(key))
    return run(*this, *cached, keys, stack);
  if (key == DispatchKey::FuncTorchDynamicLayerFrontMode) return call_transform(*this, keys, stack);
  if (key == DispatchKey::Python) return call_mode(*this, keys, stack);
  if (key == DispatchKey::PreDispatch) {
    if (internal::pre_dispatch_modes_run()) return call_pre_dispatch_mode(*this, keys, stack);
    if (!find_kernel(key)) return redispatch_boxed(keys - key, stack);
  }
  const uint64_t ticket = internal::DispatchCache::take_ticket();
  const KeyRules rules = key_rules();
  const std::optional<DispatchKey> found = internal::resolve_own_key(
      name(), key, [&](DispatchKey k) { return rules.find(k) != nullptr; });
  const internal::OwnKernel* const own = found ? rules.find(*found) : nullptr;
  SB_CHECK_NOT_IMPLEMENTED(own, name(), ": no rule for ", to_string(key), " (the arguments have ",
                           to_string(keys_of(*stack)),
                           "); register one with impl(), as backend fallbacks do not apply"
                           "\nregistered: ",
                           describe_rules());
  const KernelFunction kernel = own->function();
  if (key != DispatchKey::PreDispatch) cache().put(key, kernel, ticket);
  run(*this, kernel, keys, stack);
}

std::vector<HigherOrderOperator*> all_higher_order_ops() {
  std::vector<HigherOrderOperator*> all;
  std::lock_guard<std::mutex> lock(registry().mutex);
  for (const auto& [name, op] : registry().operators) all.push_back(op);
  return all;
}

std::vector<std::string> higher_order_op_names() {
  std::vector<std::string> names;
  std::lock_guard<std::mutex> lock(registry().mutex);
  for (const auto& [name, op] : registry().operators) names.push_back(name);
  return names;
}

HigherOrderOperator* find_higher_order_op(std::string_view name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  const auto found = registry().operators.find(name);
  return found == registry().operators.end() ? nullptr : found->second;
}

}  // namespace sb
