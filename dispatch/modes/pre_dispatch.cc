#include "switchboard/dispatch/modes/pre_dispatch.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/default_fallback.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

const internal::DefaultFallback pre_dispatch(DispatchKey::PreDispatch,
                                             make_kernel(&internal::call_pre_dispatch_mode));

const ExplainFallback explain_pre_dispatch(DispatchKey::PreDispatch, [](CallPath& path,
                                                                        const PathCall& c) {
  if (!internal::pre_dispatch_modes_run())
    return path.enter(c.op, c.keys - DispatchKey::PreDispatch, c.arguments);
  const internal::PoppedPreDispatchMode popped;
  internal::explain_in_mode(path, popped.mode(), c, /*rules=*/false);
});

constinit thread_local PreDispatchModes modes;
constinit thread_local internal::PoppedPreDispatchMode* innermost_popped = nullptr;

void update_key() {
  if (modes.count() != 0)
    dispatch_tls.included |= DispatchKey::PreDispatch;
  else
    dispatch_tls.included -= DispatchKey::PreDispatch;
}

size_t slot_of(const char* what, ModeKey key) {
  SB_CHECK_VALUE(key != ModeKey::Fake, what,
                 ": the pre-dispatch stack has no slot for FAKE; it has PROXY and FUNCTIONAL");
  return key == ModeKey::Proxy ? PreDispatchModes::kProxySlot : PreDispatchModes::kFunctionalSlot;
}

void put(DispatchMode* mode) {
  if (mode->is_schema_check())
    modes.set_schema_check(mode);
  else
    modes.set(slot_of("pre-dispatch", *mode->mode_key()), mode);
  update_key();
}

// Takes this very mode away, if it is there.
bool take(const DispatchMode* mode) {
  if (modes.schema_check() == mode) {
    unset_pre_dispatch_schema_check();
    return true;
  }
  for (ModeKey key : {ModeKey::Proxy, ModeKey::Functional}) {
    if (get_pre_dispatch_mode(key) != mode) continue;
    unset_pre_dispatch_mode(key);
    return true;
  }
  return false;
}

}  // namespace

DispatchMode* PreDispatchModes::get(size_t slot) const {
  SB_CHECK_INDEX(slot < kNumSlots, "pre-dispatch stack: expected a slot below 2, got ", slot);
  return slots_[slot];
}

void PreDispatchModes::set(size_t slot, DispatchMode* mode) {
  SB_CHECK_INDEX(slot < kNumSlots, "pre-dispatch stack: expected a slot below 2, got ", slot);
  slots_[slot] = mode;
}

size_t PreDispatchModes::count() const {
  size_t n = schema_check_ != nullptr;
  for (const DispatchMode* mode : slots_) n += mode != nullptr;
  return n;
}

const PreDispatchModes& pre_dispatch_modes() { return modes; }

void set_pre_dispatch_mode(DispatchMode* mode) {
  SB_CHECK_VALUE(mode, "pre-dispatch stack: expected a mode, got null");
  const std::optional<ModeKey> key = mode->mode_key();
  SB_CHECK_VALUE(mode->is_schema_check() || key == ModeKey::Proxy || key == ModeKey::Functional,
                 "pre-dispatch stack: expected a PROXY, FUNCTIONAL or schema-check mode, got ",
                 mode->name());
  if (const DispatchMode* const top = current_pre_dispatch_mode()) {
    SB_CHECK(!mode->is_schema_check() && !top->is_schema_check(),
             "pre-dispatch stack: ", mode->is_schema_check() ? mode->name() : top->name(),
             " must be alone; ", mode->is_schema_check() ? top->name() : mode->name(),
             mode->is_schema_check() ? " is there already" : " cannot be added");
    const DispatchMode* const there = modes.get(slot_of("pre-dispatch stack", *key));
    SB_CHECK(!there, "pre-dispatch stack: the ", to_string(*key), " slot holds ", there->name(),
             " already; got ", mode->name());
  }
  put(mode);
}

DispatchMode* unset_pre_dispatch_mode(ModeKey key) {
  const size_t slot = slot_of("unset_pre_dispatch_mode", key);
  DispatchMode* const mode = modes.get(slot);
  modes.set(slot, nullptr);
  update_key();
  return mode;
}

DispatchMode* unset_pre_dispatch_schema_check() {
  DispatchMode* const mode = modes.schema_check();
  modes.set_schema_check(nullptr);
  update_key();
  return mode;
}

DispatchMode* pop_pre_dispatch_mode() {
  SB_CHECK(modes.count() != 0, "pre-dispatch stack: expected a mode to pop, got an empty stack");
  if (modes.schema_check()) return unset_pre_dispatch_schema_check();
  const bool functional = modes.get(PreDispatchModes::kFunctionalSlot) != nullptr;
  return unset_pre_dispatch_mode(functional ? ModeKey::Functional : ModeKey::Proxy);
}

size_t pre_dispatch_stack_size() { return modes.count(); }

DispatchMode* get_pre_dispatch_mode(ModeKey key) {
  return modes.get(slot_of("get_pre_dispatch_mode", key));
}

DispatchMode* current_pre_dispatch_mode() {
  if (modes.schema_check()) return modes.schema_check();
  DispatchMode* const functional = modes.get(PreDispatchModes::kFunctionalSlot);
  return functional ? functional : modes.get(PreDispatchModes::kProxySlot);
}

PreDispatchModeGuard::PreDispatchModeGuard(DispatchMode* mode) : mode_(mode) {
  set_pre_dispatch_mode(mode);
}

PreDispatchModeGuard::~PreDispatchModeGuard() {
  if (take(mode_)) return;
  // The mode is running, and must not come back.
  for (internal::PoppedPreDispatchMode* p = innermost_popped; p; p = p->outer_)
    if (p->mode_ == mode_) p->comes_back_ = false;
}

namespace internal {

bool pre_dispatch_modes_run() {
  return modes.count() != 0 && dispatch_tls.kept.has(DispatchKey::PreDispatch) &&
         dispatch_tls.kept.has(DispatchKey::Python);
}

PoppedPreDispatchMode::PoppedPreDispatchMode()
    : mode_(pop_pre_dispatch_mode()), outer_(innermost_popped) {
  innermost_popped = this;
}

PoppedPreDispatchMode::~PoppedPreDispatchMode() {
  innermost_popped = outer_;
  if (comes_back_) put(mode_);
}

void call_pre_dispatch_mode(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (!pre_dispatch_modes_run()) {
    op.redispatch_boxed(keys - DispatchKey::PreDispatch, stack);
    return;
  }
  const PoppedPreDispatchMode popped;
  run_or_ask_owners(
      popped.mode(), *stack, op.entry().num_arguments(), [&] { return op.name().to_string(); },
      [&](DispatchMode& mode) {
        // An operator's rules are for the modes of ordinary dispatch.
        if (&mode == &popped.mode())
          mode.call(op, keys, stack);
        else
          run_mode(mode, op, keys, stack);
      });
}

}  // namespace internal
}  // namespace sb
