#include "switchboard/dispatch/objects/op_overload.h"

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/objects/fake_object.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/dispatch/values/observed_values.h"

namespace sb {
namespace {

// The kernel that is registered at the key, or an empty one. The copy keeps it alive.
KernelFunction registered_kernel(const OperatorHandle& op, DispatchKey key) {
  const OperatorEntry& entry = op.entry();
  return entry.dispatcher().inspect([&] {
    entry.schema();  // throws for a removed operator
    const auto kernels = entry.kernels_at(key);
    return kernels.empty() ? KernelFunction() : kernels.back().function;
  });
}

}  // namespace

std::string_view OpOverload::op_name() const {
  const std::string_view name = handle_.name().name;
  return name.substr(name.find("::") + 2);
}

std::string_view OpOverload::overload_name() const {
  const std::string& overload = handle_.name().overload;
  return overload.empty() ? std::string_view("default") : overload;
}

std::string OpOverload::to_string() const {
  return str_cat(ns(), ".", op_name(), ".", overload_name());
}

std::string OpOverload::repr() const {
  return str_cat("<OpOverload(op='", ns(), ".", op_name(), "', overload='", overload_name(), "')>");
}

TagSet OpOverload::tags() const {
  schema();  // throws for a removed operator
  return handle_.entry().tags();
}

AliasAnalysis OpOverload::alias_analysis() const {
  schema();
  return handle_.entry().definition().alias_analysis;
}

bool OpOverload::is_defined_statically() const {
  schema();
  return handle_.entry().definition().origin == DefinitionOrigin::Static;
}

void OpOverload::call_boxed(Stack* stack) const { handle_.call_boxed(stack); }

Arguments OpOverload::call(Arguments positional, KeywordArguments keyword) const {
  Stack stack = bind_arguments(schema(), std::move(positional), std::move(keyword));
  call_boxed(&stack);
  return stack;
}

Arguments OpOverload::redispatch(DispatchKeySet keys, Arguments positional,
                                 KeywordArguments keyword) const {
  Stack stack = bind_arguments(schema(), std::move(positional), std::move(keyword));
  redispatch_boxed(keys, &stack);
  return stack;
}

Arguments OpOverload::AtKey::call(Arguments positional, KeywordArguments keyword) const {
  Stack stack = bind_arguments(handle_.schema(), std::move(positional), std::move(keyword));
  call_boxed(&stack);
  return stack;
}

void OpOverload::AtKey::call_boxed(Stack* stack) const {
  if (has_fake_object(handle_, *stack)) return call_with_fake_objects_at(handle_, key_, stack);
  internal::CallPin pin;
  OperatorEntry& entry = handle_.entry();
  const DispatchTable& table = entry.resolved_table();
  const DispatchKeySet keys = table.call_keys(entry.argument_keys(*stack)) - DispatchKey::Observed;
  const KernelFunction registered = registered_kernel(handle_, key_);
  Kernel kernel = registered.entries;
  if (!kernel && is_runtime_key(key_)) kernel = table.slots[slot_of(key_)];
  if (!kernel && is_runtime_key(key_)) {
    // For the error, as if a call had come to this key.
    internal::run_boxed(&entry, kernel, key_, stack);
  }
  SB_CHECK_NOT_IMPLEMENTED(kernel, entry.name().to_string(), ": no kernel for ",
                           sb::to_string(key_),
                           " (the caller named that key); register one there\nregistered: ",
                           entry.dispatcher().describe_kernels(entry));
  SB_CHECK(!kernel.is_fallthrough(), entry.name().to_string(), ": called at ", sb::to_string(key_),
           ", which holds a fallthrough; call it at another key\nregistered: ",
           entry.dispatcher().describe_kernels(entry));
  // Who watches is told the key that was asked for, which need not be the highest of the call's.
  const DispatchKeySet shown =
      is_alias_key(key_) ? keys : (keys & DispatchKeySet::below(key_)) | key_;
  const internal::ShowValues values(stack);
  const internal::ObservedCall observed(&entry, shown, kernel);
  internal::run_unobserved(&entry, kernel, keys, stack);
}

bool OpOverload::has_decomposition() const {
  return has_kernel_for_dispatch_key(DispatchKey::CompositeImplicitAutograd);
}

std::optional<Arguments> OpOverload::decompose(Arguments positional,
                                               KeywordArguments keyword) const {
  constexpr DispatchKey key = DispatchKey::CompositeImplicitAutograd;
  if (const OperatorBase* const base = find_operator_base(handle_.entry())) {
    internal::CallPin pin;
    if (const auto* const rule = base->key_rules().find(key)) {
      Stack stack = bind_arguments(schema(), std::move(positional), std::move(keyword));
      (*rule)(handle_.entry().argument_keys(stack), &stack);
      return stack;
    }
  }
  if (!registered_kernel(handle_, key).entries) return std::nullopt;
  return at(key).call(std::move(positional), std::move(keyword));
}

bool OpOverload::has_kernel_for_dispatch_key(DispatchKey key) const {
  if (registered_kernel(handle_, key).entries) return true;
  const OperatorBase* const base = find_operator_base(handle_.entry());
  return base && base->has_kernel_for_dispatch_key(key);
}

bool OpOverload::has_kernel_for_any_dispatch_key(DispatchKeySet keys) const {
  const OperatorEntry& entry = handle_.entry();
  const bool kernel = entry.dispatcher().inspect([&] {
    entry.schema();
    for (DispatchKey key : entry.keys_with_kernels())
      if (!is_alias_key(key) && keys.has(key)) return true;
    return false;
  });
  if (kernel) return true;
  const OperatorBase* const base = find_operator_base(entry);
  return base && base->has_kernel_for_any_dispatch_key(keys);
}

bool OpOverload::has_computed_kernel_for_dispatch_key(DispatchKey key) const {
  SB_CHECK_VALUE(is_runtime_key(key), name(), ": ", sb::to_string(key),
                 " is no key of the computed table: only runtime keys are");
  const OperatorEntry& entry = handle_.entry();
  return entry.dispatcher().inspect([&] {
    entry.schema();
    return entry.resolve(key).kernel != nullptr;
  });
}

bool OpOverload::kernel_for_dispatch_key_is_fallthrough(DispatchKey key) const {
  return registered_kernel(handle_, key).entries.is_fallthrough();
}

std::ostream& operator<<(std::ostream& out, const OpOverload& op) { return out << op.to_string(); }

}  // namespace sb
