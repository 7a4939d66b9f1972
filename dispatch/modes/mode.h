// Modes: objects that see every call of a thread before its kernels do.

#ifndef SWITCHBOARD_DISPATCH_MODES_MODE_H_
#define SWITCHBOARD_DISPATCH_MODES_MODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

class HigherOrderOperator;  // dispatch/objects

namespace internal {
class DirectPath;
class PythonKernel;
}  // namespace internal

// The slots of infrastructure modes: one each, below the modes of users. A call goes through the
// users' modes first, then Functional, Proxy and Fake.
enum class ModeKey : uint8_t { Fake, Proxy, Functional };
// "FAKE", "PROXY", "FUNCTIONAL".
std::string_view to_string(ModeKey key);

// As `TorchDispatchMode`. A mode is pushed on the thread's stack; each call that reaches the Python
// key goes to the mode on top, which runs with itself popped, so that the calls it makes go to the
// mode below, or to kernels. An operator may have a mode rule for a type of mode
// (OperatorBase::impl_mode), which then runs instead.
class DispatchMode {
 public:
  virtual ~DispatchMode() = default;
  // Handles a call: replaces the arguments on the end of the stack by the results. `keys` is the
  // key set of the call, with Python its highest key or near it. For the modes that own arguments
  // see argument_modes (counting_mode.h). Throws ModeDeclined, with the stack as it was, where it
  // does not handle the call.
  virtual void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) = 0;
  virtual std::string name() const = 0;
  // The slot that the mode takes; nullopt for a user's mode.
  virtual std::optional<ModeKey> mode_key() const { return std::nullopt; }
  // Returns whether the mode lets every call go on as it came, and only looks. Higher-order
  // operators then need no rule for it: the operator runs below the mode, and the functions that it
  // takes with the mode active again.
  virtual bool only_watches() const { return false; }
  // Sees a call of a higher-order operator, which go_on() makes: the arguments on the stack, all of
  // it, and then the results. Called where only_watches() is true.
  virtual void watch_higher_order(std::string_view op, Stack* stack,
                                  absl::FunctionRef<void()> go_on);
  // Returns whether the mode handles calls of higher-order operators that have no rule for it; else
  // they are refused. As `supports_higher_order_operators`.
  virtual bool supports_higher_order_operators() const { return false; }
  // Handles such a call: replaces the arguments, all of the stack, by the results.
  virtual void call_higher_order(const HigherOrderOperator& op, DispatchKeySet keys, Stack* stack);
  // Returns whether it is the mode that may be alone on the pre-dispatch stack (pre_dispatch.h).
  virtual bool is_schema_check() const { return false; }

 private:
  friend class internal::PythonKernel;
  // For fake modes, on whose tensors most calls need no stack: see direct_call.h.
  virtual internal::DirectPath* direct_path() { return nullptr; }
};

// Thrown by a mode to decline a call: the modes that own arguments are asked next, in the order of
// the arguments. As returning `NotImplemented` from `__torch_dispatch__`. If all decline, the call
// throws TypeError; RuntimeError if a mode declines after it took arguments off the stack.
class ModeDeclined : public NotImplementedError {
 public:
  ModeDeclined() : NotImplementedError("the mode declined the call") {}
};

// Pushes a mode on this thread's stack for a scope. Not owned. A mode with a key takes its slot: a
// Fake or Proxy mode that is there is out of sight for the scope, as in `FakeTensorMode.__enter__`;
// a Functional one is an error, RuntimeError naming both. ValueError for null.
//
// Guards end on the thread that made them, in any order: a guard that ends takes away its own mode.
class ModeGuard {
 public:
  explicit ModeGuard(DispatchMode* mode);
  ~ModeGuard();
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  uint64_t id_;
  uint64_t replaced_;  // 0: none
};

// For a scope, no mode runs that was active at its beginning, nor a pre-dispatch mode. As
// `_DisableTorchDispatch` for modes; tensors that belong to a mode still reach it.
class NoModesGuard {
 public:
  NoModesGuard();
  ~NoModesGuard();
  NoModesGuard(const NoModesGuard&) = delete;
  NoModesGuard& operator=(const NoModesGuard&) = delete;

 private:
  uint64_t before_;
  bool pre_dispatch_was_kept_;
};

// For a scope, no Fake mode is active. As `unset_fake_temporarily`.
class UnsetFakeTemporarily {
 public:
  UnsetFakeTemporarily();
  ~UnsetFakeTemporarily();
  UnsetFakeTemporarily(const UnsetFakeTemporarily&) = delete;
  UnsetFakeTemporarily& operator=(const UnsetFakeTemporarily&) = delete;

  // The mode that was removed; nullptr if there was none.
  DispatchMode* mode() const { return mode_; }

 private:
  DispatchMode* mode_ = nullptr;
  uint64_t id_ = 0;
};

// The mode that the next call of this thread goes to, or nullptr; and how many modes it could go
// to. A mode that runs, and modes that are replaced or taken away for a scope, do not count.
DispatchMode* current_mode();
size_t mode_stack_size();
// Returns whether there are modes that a call could go to, and each of them only watches.
bool all_modes_only_watch();

// The infrastructure slots of this thread, without a scope. As `_get_dispatch_mode`,
// `_set_dispatch_mode` and `_unset_dispatch_mode`.
//
// The mode in the slot, or nullptr.
DispatchMode* get_mode(ModeKey key);
// Puts a mode into the slot of its key. ValueError for null or a mode without a key, RuntimeError,
// naming both, if the slot is taken.
void set_mode(DispatchMode* mode);
// Empties the slot and returns what was there, or nullptr.
DispatchMode* unset_mode(ModeKey key);

namespace internal {

// Takes the current mode off this thread's stack for a scope.
class PoppedMode {
 public:
  PoppedMode();
  ~PoppedMode();
  PoppedMode(const PoppedMode&) = delete;
  PoppedMode& operator=(const PoppedMode&) = delete;

  // nullptr if no mode is active.
  DispatchMode* mode() const { return mode_; }

 private:
  DispatchMode* mode_;
  uint64_t id_;
};

// The one mode that owns tensors among the arguments, or nullptr. Throws RuntimeError, naming both,
// if arguments belong to different modes. `op` gives the operator's name, for that.
DispatchMode* owner_of(absl::Span<const IValue> arguments, absl::FunctionRef<std::string()> op);

// Runs an operator under a mode: its mode rule for that type of mode, or else the mode itself.
void run_mode(DispatchMode& mode, const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

// Runs a call in a mode, `run(mode)`. If it declines, the modes that own arguments, which are the
// last `num_arguments` values of the stack, are asked in their order. Throws TypeError, naming all,
// if every one declined, and RuntimeError if one did after it changed the size of the stack, so
// that ModeDeclined never leaves a call. `op` gives the operator's name, for these.
void run_or_ask_owners(DispatchMode& mode, const Stack& stack, size_t num_arguments,
                       absl::FunctionRef<std::string()> op,
                       absl::FunctionRef<void(DispatchMode&)> run);

// The kernel at the Python key: calls the mode on top of the stack, or else the mode that owns one
// of the arguments; or the operator's mode rule for that type of mode.
void call_mode(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_MODE_H_
