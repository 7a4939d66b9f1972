#include "switchboard/dispatch/modes/direct_call.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb::internal {
namespace {

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
  ~Leave() { mode->leave_direct(); }
  DispatchMode* mode;
};

}  // namespace

bool run_direct(OperatorEntry* entry, absl::Span<const Tensor* const> tensors,
                absl::FunctionRef<void(const Kernel&, DirectResults)> run) {
  if (dispatch_tls.observer || entry->dispatcher().observer() || entry->find_base()) return false;
  DispatchMode* const active = current_mode();
  DispatchMode* const mode = active ? active : only_owner(tensors);
  if (!mode) return false;
  const Kernel* const kernel = mode->enter_direct(OperatorHandle(entry), tensors);
  if (!kernel) return false;
  const auto run_and_leave = [&] {
    const Leave leave{mode};
    try {
      run(*kernel, DirectResults(mode));
      return true;
    } catch (const NotImplementedError&) {
      return false;
    }
  };
  if (!active) return run_and_leave();
  const PoppedMode popped;
  return run_and_leave();
}

void enter_mode(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  call_mode(op, keys, stack);
}

}  // namespace sb::internal
