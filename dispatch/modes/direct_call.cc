#include "switchboard/dispatch/modes/direct_call.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/operator_rules.h"
#include "switchboard/dispatch/schema/typed_frame.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb::internal {
namespace {

// The tensors among the arguments of a typed call, in their order.
struct DirectArguments {
  absl::Span<const Tensor* const> span() const { return {tensors, count}; }

  const Tensor* tensors[DirectPath::kMost];
  size_t count = 0;
};

// Adds those of an argument; false if a mode must look at more than tensors: at a symbol, a
// storage, a value of any type, or too many tensors.
[[gnu::always_inline]] inline bool add(const Tensor& t, DirectArguments* all) {
  if (all->count == DirectPath::kMost) [[unlikely]]
    return false;
  all->tensors[all->count++] = &t;
  return true;
}
bool add(const SymInt& value, DirectArguments*) { return !value.is_symbolic(); }
[[gnu::always_inline]] inline bool add(const Scalar& value, DirectArguments*) {
  return !value.is_symbolic();
}
bool add(const Storage&, DirectArguments*) { return false; }
bool add(const IValue&, DirectArguments*) { return false; }
bool add(const Generator&, DirectArguments*) { return true; }
template <class T>
requires std::is_trivially_copyable_v<T>
bool add(const T&, DirectArguments*) { return true; }
template <class T>
bool add(const std::optional<T>& value, DirectArguments* all) {
  return !value || add(*value, all);
}
template <class T>
bool add(const absl::Span<const T>& values, DirectArguments* all) {
  return std::all_of(values.begin(), values.end(), [all](const T& v) { return add(v, all); });
}
template <class Span>
bool add(const OptionalSpan<Span>& values, DirectArguments* all) {
  return !values || add(*values, all);
}

[[gnu::noinline]] bool add_other(TypeCode code, const void* argument, DirectArguments* all) {
  return with_argument(code, argument, [all](const auto& v) { return add(v, all); });
}

[[gnu::noinline]] bool add_in_order(const TypedFrame& frame, DirectArguments* all) {
  bool added = true;
  const CallDescription& call = frame.description;
  for_each_argument(call.tensors | call.other_tensors | call.special, [&](size_t i) {
    added = added && add_other(call.types->arguments[i], frame.arguments[i], all);
  });
  return added;
}

[[gnu::always_inline]] inline bool add_all(const TypedFrame& frame, DirectArguments* all) {
  const CallDescription& call = frame.description;
  // The most frequent calls: some tensors, and perhaps Scalars.
  if (call.other_tensors | call.special_but_scalar) return add_in_order(frame, all);
  size_t count = 0;
  for (ArgumentMask left = call.tensors; left != 0; left &= left - 1) {
    if (count == DirectPath::kMost) [[unlikely]]
      return false;
    all->tensors[count++] = static_cast<const Tensor*>(frame.arguments[__builtin_ctzll(left)]);
  }
  all->count = count;
  for (ArgumentMask left = call.special; left != 0; left &= left - 1) {
    if (static_cast<const Scalar*>(frame.arguments[__builtin_ctzll(left)])->is_symbolic())
      return false;
  }
  return true;
}

// The one mode that owns tensors among these; nullptr also where there are several.
DispatchMode* only_owner(absl::Span<const Tensor* const> tensors) {
  DispatchMode* owner = nullptr;
  const ModeData* seen = nullptr;  // most tensors of a mode have the same
  for (const Tensor* const t : tensors) {
    const ModeData* const data = t->impl()->mode_data().get();
    if (!data || data == seen) continue;
    seen = data;
    DispatchMode& mode = data->mode();
    if (owner && owner != &mode) return nullptr;
    owner = &mode;
  }
  return owner;
}

struct Leave {
  ~Leave() { path->leave_direct(); }
  DirectPath* path;
};

// False if the kernel is not implemented for these arguments: the mode may know another way.
[[gnu::always_inline]] inline bool run_and_leave(OperatorEntry& op, DirectPath* path,
                                                 const Kernel& kernel, const TypedFrame& frame) {
  const Leave leave{path};
  try {
    frame.enter(kernel, DispatchKey::Meta);
    if (frame.description.returns_tensor) [[likely]] {
      path->adopt_direct(*static_cast<const Tensor*>(frame.result));
      return true;
    }
    const absl::Span<const TypeCode> codes = frame.description.types->returns;
    for (size_t i = 0; i < codes.size(); ++i) {
      with_result(codes[i], frame.results[i], [path](const auto& result) {
        visit_tensors(result, [path](const Tensor& t) { path->adopt_direct(t); });
      });
    }
    return true;
  } catch (const NotImplementedError&) {
    return false;
  } catch (const RuntimeError&) {
    // A kernel for all devices may be no shape rule: the mode says so.
    if (op.resolved_table().rules[slot_of(DispatchKey::Meta)] !=
        ResolutionRule::DefaultBackendKernel)
      throw;
    return false;
  }
}

}  // namespace

class PythonKernel final : public KernelState {
 public:
  static void call(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    call_mode(op, keys, stack);
  }
  bool take_typed_call(OperatorEntry& op, DispatchKeySet, const TypedFrame& frame) const override {
    DispatchMode* const active = current_mode();
    DirectPath* path = active ? active->direct_path() : nullptr;
    if (active && !path) return false;
    if (dispatch_tls.observer || op.dispatcher().observer() || find_rules(op)) return false;
    DirectArguments arguments;
    if (!add_all(frame, &arguments)) return false;
    if (!active) {
      DispatchMode* const owner = only_owner(arguments.span());
      path = owner ? owner->direct_path() : nullptr;
    }
    if (!path) return false;
    const Kernel* const kernel = path->enter_direct(OperatorHandle(&op), arguments.span());
    if (!kernel) return false;
    if (!active) return run_and_leave(op, path, *kernel, frame);
    const PoppedMode popped;
    return run_and_leave(op, path, *kernel, frame);
  }
};

KernelFunction make_python_kernel() {
  KernelFunction kernel;
  kernel.state = make_intrusive<PythonKernel>();
  kernel.entries = {nullptr, &PythonKernel::call, kernel.state.get()};
  return kernel;
}

}  // namespace sb::internal
