#include "switchboard/dispatch/objects/fake_object.h"

#include <algorithm>
#include <cstddef>
#include <typeinfo>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/resolve_key.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/values/stand_ins.h"

namespace sb {
namespace {

using K = DispatchKey;

// Whether it holds an object for which is(object) is true.
template <class Is>
bool holds_object(const IValue& value, const Is& is) {
  if (value.is_Object()) return is(*value.to_object());
  if (!value.is_List()) return false;
  const std::vector<IValue>& list = value.to_list();
  return std::any_of(list.begin(), list.end(),
                     [&](const IValue& item) { return holds_object(item, is); });
}

bool holds_fake_object(const IValue& value) {
  return holds_object(value, [](const OpaqueObject& object) {
    return dynamic_cast<const FakeObject*>(&object) != nullptr;
  });
}
// One that has nothing but its class's name.
bool holds_mere_name(const IValue& value) {
  return holds_object(
      value, [](const OpaqueObject& object) { return typeid(object) == typeid(FakeObject); });
}

// The kernels and rules of an operator, for one call.
struct Candidates {
  explicit Candidates(const OperatorHandle& op)
      : entry(op.entry()), base(find_operator_base(entry)) {}

  enum class Kind { None, Fallthrough, Kernel };
  Kind kernel_at(K key) const {
    return entry.dispatcher().inspect([&] {
      const auto kernels = entry.kernels_at(key);
      if (kernels.empty()) return Kind::None;
      return kernels.back().function.entries.is_fallthrough() ? Kind::Fallthrough : Kind::Kernel;
    });
  }
  bool has_rule(K key) const { return base && base->has_kernel_for_dispatch_key(key); }

  // The key whose rule or kernel serves the key.
  std::optional<K> source_of(K key) const {
    return internal::resolve_own_key(entry.name().to_string(), key, [&](K k) {
      return has_rule(k) || kernel_at(k) != Kind::None;
    });
  }

  // Whether a call passes over the key: it has neither rule nor kernel, or a fallthrough.
  bool passes_over(K key) const {
    const std::optional<K> source = source_of(key);
    return !source || (!has_rule(*source) && kernel_at(*source) == Kind::Fallthrough);
  }

  const OperatorEntry& entry;
  const OperatorBase* base;
};

// What is not for fake-aware rules by nature: passed over unless the operator says something of it.
constexpr K kUsuallyPassedOver[] = {K::AutogradFunctionality, K::ADInplaceOrView, K::BackendSelect,
                                    K::PythonTLSSnapshot, K::PythonDispatcher};

[[noreturn, gnu::cold]] void throw_no_rule(const Candidates& candidates, K key,
                                           const Stack& stack) {
  const FunctionSchema& schema = candidates.entry.schema();
  const size_t n = schema.arguments.size();
  size_t i = 0;
  while (!holds_fake_object(stack[stack.size() - n + i])) ++i;
  SB_THROW(RuntimeError, schema.name.to_string(), ": argument ", i, " '", schema.arguments[i].name,
           "' is the fake stand-in of a ", schema.arguments[i].type.to_string(),
           ", and there is no rule for ", to_string(key),
           "; kernels cannot use a stand-in; registered kernels: ",
           candidates.entry.dispatcher().describe_kernels(candidates.entry),
           "; rules: ", candidates.base ? candidates.base->describe_rules() : "none");
}

}  // namespace

bool has_fake_object(const OperatorHandle& op, const Stack& stack) {
  const std::vector<Argument>& arguments = op.schema().arguments;
  if (stack.size() < arguments.size()) return false;  // for the call to refuse
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type.base == BaseType::Class &&
        holds_fake_object(stack[stack.size() - arguments.size() + i]))
      return true;
  }
  return false;
}

namespace {

// Whether the kernel at the key is a fake rule, made for stand-ins that have a state of their own.
bool takes_stand_ins(const Candidates& candidates, K key, const Stack& stack) {
  const size_t n = candidates.entry.schema().arguments.size();
  return key == K::Meta && candidates.kernel_at(key) == Candidates::Kind::Kernel &&
         std::none_of(stack.end() - static_cast<ptrdiff_t>(n), stack.end(), holds_mere_name);
}

void run_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  OperatorEntry& entry = op.entry();
  internal::run_boxed(&entry, entry.resolved_table()[keys], keys, stack);
}

void call_rules(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const Candidates candidates(op);
  for (K functionality : kUsuallyPassedOver) {
    if (candidates.passes_over(runtime_key(functionality, keys.highest_backend())))
      keys -= functionality;
  }
  for (;;) {
    const K key = keys.highest_key();
    if (key == K::Python) return internal::call_mode(op, keys, stack);
    const std::optional<K> source = candidates.source_of(key);
    if (source && candidates.has_rule(*source)) {
      if (const auto* const rule = candidates.base->key_rules().find(*source))
        return (*rule)(keys, stack);
    }
    if (takes_stand_ins(candidates, key, *stack)) return run_kernel(op, keys, stack);
    if (key == K::Undefined || !source || !candidates.passes_over(key))
      throw_no_rule(candidates, key, *stack);
    keys -= functionality_of(key);
  }
}

bool call_stand_ins(const OperatorHandle& op, const DispatchKeySet* keys, Stack* stack) {
  if (!has_fake_object(op, *stack)) return false;
  if (keys) {
    internal::CallPin pin;
    call_rules(op, *keys, stack);
  } else {
    call_with_fake_objects(op, stack);
  }
  return true;
}

}  // namespace

FakeObject::FakeObject(std::string class_name) : class_name_(std::move(class_name)) {
  internal::stand_in_call.store(call_stand_ins, std::memory_order_relaxed);
}

void call_with_fake_objects(const OperatorHandle& op, Stack* stack) {
  internal::CallPin pin;
  const DispatchKeySet keys =
      (op.entry().argument_keys(*stack) | dispatch_tls.included) & dispatch_tls.kept;
  call_rules(op, keys - K::Observed, stack);
}

void call_with_fake_objects_at(const OperatorHandle& op, DispatchKey key, Stack* stack) {
  internal::CallPin pin;
  const Candidates candidates(op);
  const auto* const rule = candidates.base ? candidates.base->key_rules().find(key) : nullptr;
  if (!rule && takes_stand_ins(candidates, key, *stack))
    return run_kernel(op, DispatchKeySet(key), stack);
  if (!rule) throw_no_rule(candidates, key, *stack);
  (*rule)(op.entry().argument_keys(*stack), stack);
}

}  // namespace sb
