#include "switchboard/dispatch/modes/direct_call.h"

#include <algorithm>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/operator_rules.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb::internal {
namespace {

// Adds the tensors of an argument; false as DirectArguments::collect.
bool add(const Tensor& t, DirectArguments* all) { return all->add(t); }
bool add(const SymInt& value, DirectArguments*) { return !value.is_symbolic(); }
bool add(const Scalar& value, DirectArguments*) { return !value.is_symbolic(); }
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

// The mode that owns one of the arguments; nullptr where there is none. Whether it owns the others
// is for the mode to see.
[[gnu::noinline]] DispatchMode* owner_of_others(const TypedFrame& frame) {
  DispatchMode* owner = nullptr;
  for_each_argument(frame.description.other_tensors, [&](size_t i) {
    with_argument(frame.description.types->arguments[i], frame.arguments[i], [&](const auto& v) {
      visit_tensors(v, [&](const Tensor& t) {
        if (t.impl()->mode_data()) owner = &t.impl()->mode_data()->mode();
      });
    });
  });
  return owner;
}
[[gnu::always_inline]] inline DispatchMode* owner_of(const TypedFrame& frame) {
  for (ArgumentMask left = frame.description.tensors; left != 0; left &= left - 1) {
    const auto& t = *static_cast<const Tensor*>(frame.arguments[__builtin_ctzll(left)]);
    if (const ModeData* const data = t.impl()->mode_data().get()) return &data->mode();
  }
  return owner_of_others(frame);
}

}  // namespace

bool DirectArguments::collect_in_order(const TypedFrame& frame) {
  bool added = true;
  const CallDescription& call = frame.description;
  for_each_argument(call.tensors | call.other_tensors | call.special, [&](size_t i) {
    added = added && with_argument(call.types->arguments[i], frame.arguments[i],
                                   [this](const auto& v) { return internal::add(v, this); });
  });
  return added;
}

void for_each_result(const TypedFrame& frame, absl::FunctionRef<void(const Tensor&)> f) {
  const absl::Span<const TypeCode> codes = frame.description.types->returns;
  for (size_t i = 0; i < codes.size(); ++i)
    with_result(codes[i], frame.results[i], [f](const auto& result) { visit_tensors(result, f); });
}

class PythonKernel final : public KernelState {
 public:
  static void call(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    call_mode(op, keys, stack);
  }
  bool take_typed_call(OperatorEntry& op, DispatchKeySet, const TypedFrame& frame) const override {
    if (dispatch_tls.observer || op.dispatcher().observer() || find_rules(op)) return false;
    if (DispatchMode* const active = current_mode()) {
      DirectPath* const path = active->direct_path();
      if (!path) return false;
      const PoppedMode popped;
      return path->call_direct(op, frame);
    }
    DispatchMode* const owner = owner_of(frame);
    DirectPath* const path = owner ? owner->direct_path() : nullptr;
    return path && path->call_direct(op, frame);
  }
};

KernelFunction make_python_kernel() {
  KernelFunction kernel;
  kernel.state = make_intrusive<PythonKernel>();
  kernel.entries = {nullptr, &PythonKernel::call, kernel.state.get()};
  return kernel;
}

}  // namespace sb::internal
