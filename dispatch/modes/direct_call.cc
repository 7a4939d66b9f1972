#include "switchboard/dispatch/modes/direct_call.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_rules.h"
#include "switchboard/dispatch/typed_frame.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb::internal {
namespace {

// The tensors among the arguments of a typed call, in their order, where they are all that a mode
// need look at: not where there is a symbol, a storage, a value of any type, or too many tensors.
class DirectArguments {
 public:
  explicit DirectArguments(const TypedFrame& frame) {
    const absl::Span<const TypeCode> codes = frame.description.types->arguments;
    for (size_t i = 0; i < codes.size(); ++i)
      with_argument(codes[i], frame.arguments[i], [this](const auto& v) { add(v); });
  }

  bool are_plain() const { return plain_; }
  absl::Span<const Tensor* const> tensors() const { return {tensors_, num_tensors_}; }

 private:
  [[gnu::always_inline]] void add(const Tensor& t) {
    if (num_tensors_ == DirectPath::kMost) [[unlikely]]
      plain_ = false;
    else
      tensors_[num_tensors_++] = &t;
  }
  void add(const SymInt& value) { plain_ = plain_ && !value.is_symbolic(); }
  void add(const Scalar& value) { plain_ = plain_ && !value.is_symbolic(); }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) add(*value);
  }
  template <class T>
  void add(const absl::Span<const T>& values) {
    for (const T& value : values) add(value);
  }
  template <class Span>
  void add(const OptionalSpan<Span>& values) {
    if (values) add(*values);
  }
  void add(const Storage&) { plain_ = false; }
  void add(const IValue&) { plain_ = false; }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T&) {}
  void add(const Generator&) {}

  const Tensor* tensors_[DirectPath::kMost];
  size_t num_tensors_ = 0;
  bool plain_ = true;
};

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
bool run_and_leave(DirectPath* path, const Kernel& kernel, const TypedFrame& frame) {
  const Leave leave{path};
  try {
    frame.enter(kernel, DispatchKey::Meta);
    const absl::Span<const TypeCode> codes = frame.description.types->returns;
    for (size_t i = 0; i < codes.size(); ++i) {
      with_result(codes[i], frame.results[i], [path](const auto& result) {
        visit_tensors(result, [path](const Tensor& t) { path->adopt_direct(t); });
      });
    }
    return true;
  } catch (const NotImplementedError&) {
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
    if (active && !active->direct_path()) return false;
    if (dispatch_tls.observer || op.dispatcher().observer() || find_rules(op)) return false;
    const DirectArguments arguments(frame);
    if (!arguments.are_plain()) return false;
    DispatchMode* const mode = active ? active : only_owner(arguments.tensors());
    DirectPath* const path = mode ? mode->direct_path() : nullptr;
    if (!path) return false;
    const Kernel* const kernel = path->enter_direct(OperatorHandle(&op), arguments.tensors());
    if (!kernel) return false;
    if (!active) return run_and_leave(path, *kernel, frame);
    const PoppedMode popped;
    return run_and_leave(path, *kernel, frame);
  }
};

KernelFunction make_python_kernel() {
  KernelFunction kernel;
  kernel.state = make_intrusive<PythonKernel>();
  kernel.entries = {nullptr, &PythonKernel::call, kernel.state.get()};
  return kernel;
}

}  // namespace sb::internal
