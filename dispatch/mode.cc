#include "switchboard/dispatch/mode.h"

#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

thread_local std::vector<DispatchMode*> mode_stack;

// Runs a mode with itself and nothing above it on the stack; both come back at the end of the
// scope.
class PoppedMode {
 public:
  PoppedMode() : mode_(mode_stack.back()) {
    mode_stack.pop_back();
    if (mode_stack.empty()) dispatch_tls.included -= DispatchKey::Python;
  }
  ~PoppedMode() { mode_stack.push_back(mode_); }
  DispatchMode& mode() const { return *mode_; }

 private:
  PreserveDispatchTls preserve_;
  DispatchMode* mode_;
};

}  // namespace

ModeGuard::ModeGuard(DispatchMode* mode) {
  mode_stack.push_back(mode);
  dispatch_tls.included |= DispatchKey::Python;
}

ModeGuard::~ModeGuard() { mode_stack.pop_back(); }

NoModesGuard::NoModesGuard() {
  saved_.swap(mode_stack);
  dispatch_tls.included -= DispatchKey::Python;
}

NoModesGuard::~NoModesGuard() { mode_stack.swap(saved_); }

DispatchMode* current_mode() { return mode_stack.empty() ? nullptr : mode_stack.back(); }
size_t mode_stack_size() { return mode_stack.size(); }

namespace internal {

void call_mode(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (!mode_stack.empty()) {
    PoppedMode popped;
    popped.mode().call(op, keys, stack);
    return;
  }
  DispatchMode* owner = nullptr;
  const size_t n = op.entry().num_arguments();
  for (size_t i = stack->size() - n; i < stack->size(); ++i) {
    (*stack)[i].for_each_tensor([&](const Tensor& t) {
      if (!t.impl()->mode_data()) return;
      DispatchMode& mode = t.impl()->mode_data()->mode();
      SB_CHECK(!owner || owner == &mode, op.name().to_string(),
               ": arguments belong to different modes, ", owner->name(), " and ", mode.name());
      owner = &mode;
    });
  }
  SB_CHECK(owner, op.name().to_string(),
           ": entered at Python, but no mode is active and no argument belongs to one");
  owner->call(op, keys, stack);
}

}  // namespace internal
}  // namespace sb
