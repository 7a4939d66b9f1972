// Modes: objects that see every call of a thread before its kernels do.

#ifndef SWITCHBOARD_DISPATCH_MODE_H_
#define SWITCHBOARD_DISPATCH_MODE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// The slots of infrastructure modes: one each, below the modes of users. A call goes through the
// users' modes first, then Functional, Proxy and Fake.
enum class ModeKey : uint8_t { Fake, Proxy, Functional };

// As `TorchDispatchMode`. A mode is pushed on the thread's stack; each call that reaches the Python
// key goes to the mode on top, which runs with itself popped, so that the calls it makes go to the
// mode below, or to kernels.
class DispatchMode {
 public:
  virtual ~DispatchMode() = default;
  // Handles a call: replaces the arguments on the end of the stack by the results. `keys` is the
  // key set of the call, with Python its highest key or near it.
  virtual void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) = 0;
  virtual std::string name() const = 0;
  // The slot that the mode takes; nullopt for a user's mode.
  virtual std::optional<ModeKey> mode_key() const { return std::nullopt; }
};

// Pushes a mode on this thread's stack for a scope. Not owned.
class ModeGuard {
 public:
  explicit ModeGuard(DispatchMode* mode);
  ~ModeGuard();
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  PreserveDispatchTls preserve_;
};

// Takes every mode off this thread's stack for a scope. As `_DisableTorchDispatch` for modes;
// tensors that belong to a mode still reach it.
class NoModesGuard {
 public:
  NoModesGuard();
  ~NoModesGuard();
  NoModesGuard(const NoModesGuard&) = delete;
  NoModesGuard& operator=(const NoModesGuard&) = delete;

 private:
  PreserveDispatchTls preserve_;
  std::vector<DispatchMode*> saved_;
};

// The mode on top of this thread's stack, or nullptr; and how many there are.
DispatchMode* current_mode();
size_t mode_stack_size();

namespace internal {
// The kernel at the Python key: calls the mode on top of the stack, or else the mode that owns one
// of the arguments. Throws RuntimeError, naming both, if arguments belong to different modes.
void call_mode(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODE_H_
