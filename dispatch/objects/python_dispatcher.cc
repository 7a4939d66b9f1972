#include "switchboard/dispatch/objects/python_dispatcher.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <typeinfo>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/default_fallback.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/resolve_key.h"
#include "switchboard/dispatch/slow_call.h"

namespace sb {
namespace {

const internal::DefaultFallback python_dispatcher(DispatchKey::PythonDispatcher,
                                                  make_kernel(&internal::call_python_dispatcher));

using Wrapper = std::shared_ptr<const KernelWrapper>;

struct Wrappers {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::map<DispatchKey, Wrapper> by_key;
  std::atomic<bool> any{false};  // without the lock: whether there is one
};

// Never destroyed: operators may be called until the very end of the program.
Wrappers& wrappers() {
  static Wrappers* const wrappers = new Wrappers;
  return *wrappers;
}

Wrapper find_wrapper(DispatchKey key) {
  Wrappers& all = wrappers();
  if (!all.any.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_key.find(key);
  return found == all.by_key.end() ? nullptr : found->second;
}

// A kernel in a wrapper.
class WrappedKernel final : public KernelState {
 public:
  WrappedKernel(KernelFunction inner, Wrapper wrapper)
      : inner_(std::move(inner)), wrapper_(std::move(wrapper)) {}

  static KernelFunction make(KernelFunction inner, Wrapper wrapper) {
    KernelFunction function;
    function.state = make_intrusive<WrappedKernel>(std::move(inner), std::move(wrapper));
    function.entries = {nullptr, &call, function.state.get()};
    return function;
  }

 private:
  static void call(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys,
                   Stack* stack) {
    const WrappedKernel& self = *static_cast<const WrappedKernel*>(kernel.state);
    const OperatorBase::Rule inner = [&](DispatchKeySet k, Stack* s) {
      self.inner_.entries.boxed(self.inner_.entries, op, k, s);
    };
    (*self.wrapper_)(op, inner, keys, stack);
  }

  KernelFunction inner_;
  Wrapper wrapper_;
};

// The kernel of an operator at a key, without its wrapper; none if it has none.
KernelFunction resolve(OperatorEntry& entry, const OperatorBase& base, DispatchKey key) {
  return entry.dispatcher().inspect([&]() -> KernelFunction {
    const OperatorBase::KeyRules rules = base.key_rules();
    const auto has = [&](DispatchKey k) { return rules.find(k) || !entry.kernels_at(k).empty(); };
    if (const std::optional<DispatchKey> found = internal::resolve_own_key(base.name(), key, has)) {
      const internal::OwnKernel* const own = rules.find(*found);
      return own ? own->function() : entry.kernels_at(*found).back().function;
    }
    const Resolution resolution = entry.resolve(key);
    return resolution.rule == ResolutionRule::BackendFallback ? resolution.kernel->function
                                                              : KernelFunction();
  });
}

// Whether the operator has a rule for the current mode.
bool has_mode_rule(const OperatorBase* base) {
  const DispatchMode* const current = current_mode();
  return base && current && base->find_mode_rule(typeid(*current));
}

// Whether a key rule of the operator serves the key.
bool has_key_rule(const OperatorHandle& op, const OperatorBase& base, DispatchKey key) {
  const OperatorEntry& entry = op.entry();
  return entry.dispatcher().inspect([&] {
    const OperatorBase::KeyRules rules = base.key_rules();
    const std::optional<DispatchKey> found = internal::resolve_own_key(
        base.name(), key,
        [&](DispatchKey k) { return rules.find(k) || !entry.kernels_at(k).empty(); });
    return found && rules.find(*found);
  });
}

const ExplainFallback explain_python_dispatcher(
    DispatchKey::PythonDispatcher, [](CallPath& path, const PathCall& c) {
      const PathCall rest{c.op, c.keys - DispatchKey::PythonDispatcher, c.arguments};
      const DispatchKey key = rest.keys.highest_key();
      const internal::CallPin pin;
      const OperatorBase* const base = find_operator_base(c.op.entry());
      if (key == DispatchKey::Python && has_mode_rule(base)) {
        const internal::PoppedMode popped;
        return internal::explain_in_mode(path, *popped.mode(), rest);
      }
      if (key == DispatchKey::PreDispatch && internal::pre_dispatch_modes_run()) {
        const internal::PoppedPreDispatchMode popped;
        return internal::explain_in_mode(path, popped.mode(), rest, /*rules=*/false);
      }
      if (key != DispatchKey::Python && find_wrapper(key)) {
        path.passes(c.op.name().to_string(), str_cat("wrapper of the kernels at ", to_string(key)));
        path.decides();
      }
      if (key != DispatchKey::Python && base && has_key_rule(c.op, *base, key)) {
        path.passes(c.op.name().to_string(), str_cat("rule for ", to_string(key)));
        return path.decides();
      }
      path.enter(c.op, rest.keys, c.arguments);
    });

}  // namespace

EnablePythonDispatcher::EnablePythonDispatcher()
    : IncludeKeysGuard(DispatchKey::PythonDispatcher) {}

WrapKernelsGuard::WrapKernelsGuard(DispatchKey key, KernelWrapper wrapper) : key_(key) {
  SB_CHECK_VALUE(wrapper != nullptr, "WrapKernelsGuard: expected a wrapper for ", to_string(key),
                 ", got an empty function");
  SB_CHECK_VALUE(is_runtime_key(key) && key != DispatchKey::Python &&
                     key != DispatchKey::PreDispatch && key != DispatchKey::PythonDispatcher,
                 "WrapKernelsGuard: the kernels at ", to_string(key), " cannot be wrapped");
  Wrappers& all = wrappers();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto [it, added] =
        all.by_key.try_emplace(key, std::make_shared<const KernelWrapper>(std::move(wrapper)));
    SB_CHECK(added, "WrapKernelsGuard: the kernels at ", to_string(key), " are wrapped already");
    all.any.store(true, std::memory_order_release);
  }
  reset_cached_ops();
}

WrapKernelsGuard::~WrapKernelsGuard() {
  Wrappers& all = wrappers();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    all.by_key.erase(key_);
    all.any.store(!all.by_key.empty(), std::memory_order_release);
  }
  reset_cached_ops();
}

namespace internal {

void call_python_dispatcher(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const DispatchKeySet rest = keys - DispatchKey::PythonDispatcher;
  const DispatchKey key = rest.highest_key();
  OperatorEntry& entry = op.entry();
  const OperatorBase* base = find_operator_base(entry);
  if (key == DispatchKey::Python) {
    // The rule runs although the operator may have a kernel of its own at this key.
    if (has_mode_rule(base))
      call_mode(op, rest, stack);
    else
      op.redispatch_boxed(rest, stack);
    return;
  }
  if (key == DispatchKey::PreDispatch && pre_dispatch_modes_run()) {
    call_pre_dispatch_mode(op, rest, stack);
    return;
  }
  if (!base) {
    // Nothing but the table, unless somebody wants to see the kernel.
    if (!find_wrapper(key)) {
      op.redispatch_boxed(rest, stack);
      return;
    }
    base = &operator_base(entry);
  }
  if (const KernelFunction* const cached = base->cache().find(key)) {
    run_boxed(&entry, cached->entries, rest, stack);
    return;
  }
  const uint64_t ticket = DispatchCache::take_ticket();
  KernelFunction kernel = resolve(entry, *base, key);
  if (kernel.entries) {
    if (Wrapper wrapper = find_wrapper(key))
      kernel = WrappedKernel::make(std::move(kernel), std::move(wrapper));
    if (key != DispatchKey::PreDispatch) base->cache().put(key, kernel, ticket);
  }
  run_boxed(&entry, kernel.entries, rest, stack);
}

}  // namespace internal
}  // namespace sb
