// The modes that see calls before everything else: programs as they are written, above autograd.

#ifndef SWITCHBOARD_DISPATCH_MODES_PRE_DISPATCH_H_
#define SWITCHBOARD_DISPATCH_MODES_PRE_DISPATCH_H_

#include <array>
#include <cstddef>

#include "switchboard/dispatch/modes/mode.h"

namespace sb {

// The pre-dispatch modes of a thread. As `_ModeStackStateForPreDispatch`: slot 0 is for a Proxy
// mode, slot 1 for a Functional one, and a schema-check mode (DispatchMode::is_schema_check) is
// there alone. Not owned. This is the bare state: the functions below keep its rules and switch the
// key PreDispatch on and off.
class PreDispatchModes {
 public:
  static constexpr size_t kProxySlot = 0, kFunctionalSlot = 1, kNumSlots = 2;

  // The mode in a slot, or nullptr. Both throw IndexError for a slot that there is not.
  DispatchMode* get(size_t slot) const;
  void set(size_t slot, DispatchMode* mode);
  DispatchMode* schema_check() const { return schema_check_; }
  void set_schema_check(DispatchMode* mode) { schema_check_ = mode; }
  size_t count() const;

 private:
  std::array<DispatchMode*, kNumSlots> slots_{};
  DispatchMode* schema_check_ = nullptr;
};

const PreDispatchModes& pre_dispatch_modes();

// Puts a mode on this thread's pre-dispatch stack. As `_set_mode_pre_dispatch`. Throws ValueError,
// naming it, for a mode that is neither Proxy, nor Functional, nor a schema check (or null), and
// RuntimeError, naming both, if its slot is taken or a schema check would not be alone. The first
// mode makes the thread include the key PreDispatch; with the last it goes.
void set_pre_dispatch_mode(DispatchMode* mode);
// Takes a mode away and returns it; nullptr if there was none. ValueError for the key Fake. As
// `unset_mode_pre_dispatch`.
DispatchMode* unset_pre_dispatch_mode(ModeKey key);
DispatchMode* unset_pre_dispatch_schema_check();
// Takes the top mode away: schema check, Functional, Proxy. RuntimeError if there is none. As
// `_pop_mode_from_pre_dispatch`.
DispatchMode* pop_pre_dispatch_mode();

// Return the number of modes; the one with that key, or nullptr (ValueError for Fake); the top one,
// or nullptr.
size_t pre_dispatch_stack_size();
DispatchMode* get_pre_dispatch_mode(ModeKey key);
DispatchMode* current_pre_dispatch_mode();

// A pre-dispatch mode for a scope. Guards end on the thread that made them, in any order.
class PreDispatchModeGuard {
 public:
  explicit PreDispatchModeGuard(DispatchMode* mode);
  ~PreDispatchModeGuard();
  PreDispatchModeGuard(const PreDispatchModeGuard&) = delete;
  PreDispatchModeGuard& operator=(const PreDispatchModeGuard&) = delete;

 private:
  DispatchMode* mode_;
};

namespace internal {

// Returns whether calls that arrive at PreDispatch go to modes: there are some, and the thread
// excludes neither PreDispatch nor Python, as it does where no mode may run.
bool pre_dispatch_modes_run();

// Takes the top mode off for a scope; there must be one. At the end it takes its slot again, even
// if another mode was left there.
class PoppedPreDispatchMode {
 public:
  PoppedPreDispatchMode();
  ~PoppedPreDispatchMode();
  PoppedPreDispatchMode(const PoppedPreDispatchMode&) = delete;
  PoppedPreDispatchMode& operator=(const PoppedPreDispatchMode&) = delete;

  DispatchMode& mode() const { return *mode_; }

 private:
  friend class sb::PreDispatchModeGuard;
  DispatchMode* mode_;
  bool comes_back_ = true;
  PoppedPreDispatchMode* outer_;
};

// The kernel at the PreDispatch key: calls the top mode, or, where no mode runs, passes the call
// on.
void call_pre_dispatch_mode(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_PRE_DISPATCH_H_
