#include "switchboard/dispatch/modes/mode.h"

#include <algorithm>
#include <typeinfo>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/dispatch/default_fallback.h"
#include "switchboard/dispatch/modes/direct_call.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/modes/operator_rules.h"
#include "switchboard/dispatch/modes/scoped_stack.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

const internal::DefaultFallback python(DispatchKey::Python, internal::make_python_kernel());

using ModeStack = internal::ScopedStack<DispatchMode>;

constinit thread_local ModeStack mode_stack;

// The users' modes come before those of the slots.
constexpr uint32_t kUserRank = 3;
constexpr uint32_t rank_of(ModeKey key) { return static_cast<uint32_t>(key); }
static_assert(rank_of(ModeKey::Functional) < kUserRank);

// Calls arrive at the Python key exactly while there is a mode for them.
void update_python_key() {
  if (mode_stack.top())
    dispatch_tls.included |= DispatchKey::Python;
  else
    dispatch_tls.included -= DispatchKey::Python;
}

// The entry in the slot that a mode wants, or nullptr.
const ModeStack::Entry* in_the_way_of(const DispatchMode& mode) {
  const std::optional<ModeKey> key = mode.mode_key();
  return key ? mode_stack.top_of_rank(rank_of(*key)) : nullptr;
}

[[noreturn, gnu::cold]] void throw_slot_taken(const char* what, const DispatchMode& there,
                                              const DispatchMode& mode) {
  SB_THROW(RuntimeError, what, ": the ", to_string(*mode.mode_key()), " slot holds ", there.name(),
           " already; got ", mode.name());
}

uint64_t push(DispatchMode* mode) {
  static thread_local const internal::FreeAtThreadEnd<DispatchMode> free(&mode_stack);
  const std::optional<ModeKey> key = mode->mode_key();
  const uint64_t id = mode_stack.push(mode, key ? rank_of(*key) : kUserRank);
  dispatch_tls.included |= DispatchKey::Python;
  return id;
}

absl::Span<const IValue> arguments_on(const Stack& stack, const OperatorHandle& op) {
  return absl::MakeConstSpan(stack).last(op.entry().num_arguments());
}

// A mode that declined has left the stack as it was: the next one would take other values for the
// arguments.
void check_declined(const DispatchMode& mode, size_t size, const Stack& stack,
                    absl::FunctionRef<std::string()> op) {
  SB_CHECK(stack.size() == size, op(), ": the mode ", mode.name(),
           " declined the call, but changed the stack; expected ", size, " values on it, got ",
           stack.size());
}

// Whether the mode took the call; false if it declined.
bool takes(DispatchMode& mode, const Stack& stack, absl::FunctionRef<std::string()> op,
           absl::FunctionRef<void(DispatchMode&)> run) {
  const size_t size = stack.size();
  try {
    run(mode);
    return true;
  } catch (const ModeDeclined&) {
  }
  check_declined(mode, size, stack, op);
  return false;
}

// Asks the modes that own arguments, but for the one that has declined.
[[gnu::cold]] void ask_owners(DispatchMode* declined, const Stack& stack, size_t num_arguments,
                              absl::FunctionRef<std::string()> op,
                              absl::FunctionRef<void(DispatchMode&)> run) {
  std::vector<DispatchMode*> asked = {declined};
  std::vector<DispatchMode*> owners;
  for (const IValue& value : absl::MakeConstSpan(stack).last(num_arguments)) {
    value.for_each_tensor([&](const Tensor& t) {
      if (t.impl()->mode_data()) owners.push_back(&t.impl()->mode_data()->mode());
    });
  }
  for (DispatchMode* const owner : owners) {
    if (std::find(asked.begin(), asked.end(), owner) != asked.end()) continue;
    asked.push_back(owner);
    if (takes(*owner, stack, op, run)) return;
  }
  SB_THROW(TypeError, op(), ": all modes that were asked declined: ",
           absl::StrJoin(asked, ", ", [](std::string* out, const DispatchMode* mode) {
             out->append(mode->name());
           }));
}

const ExplainFallback explain_python(DispatchKey::Python, [](CallPath& path, const PathCall& c) {
  const internal::PoppedMode popped;
  DispatchMode* mode = popped.mode();
  try {
    if (!mode) {
      mode = internal::owner_of(arguments_on(c.arguments, c.op),
                                [&] { return c.op.name().to_string(); });
    }
  } catch (const RuntimeError& error) {
    return path.fails(error.what());
  }
  if (!mode) return path.fails("no mode is active and no argument belongs to one");
  internal::explain_in_mode(path, *mode, c);
});

}  // namespace

std::string_view to_string(ModeKey key) {
  switch (key) {
    case ModeKey::Fake:
      return "FAKE";
    case ModeKey::Proxy:
      return "PROXY";
    case ModeKey::Functional:
      return "FUNCTIONAL";
  }
  return "FAKE";
}

void DispatchMode::watch_higher_order(std::string_view, Stack*, absl::FunctionRef<void()> go_on) {
  go_on();
}

void DispatchMode::call_higher_order(const HigherOrderOperator&, DispatchKeySet, Stack*) {
  SB_THROW(NotImplementedError, "the mode ", name(),
           " says that it handles higher-order operators, and has no call_higher_order()");
}

ModeGuard::ModeGuard(DispatchMode* mode) : replaced_(0) {
  SB_CHECK_VALUE(mode, "ModeGuard: expected a mode, got null");
  if (const ModeStack::Entry* const there = in_the_way_of(*mode)) {
    if (mode->mode_key() == ModeKey::Functional)
      throw_slot_taken("ModeGuard", *there->object, *mode);
    replaced_ = there->id;
  }
  id_ = push(mode);
  mode_stack.hide(replaced_);
}

ModeGuard::~ModeGuard() {
  mode_stack.remove(id_);
  mode_stack.unhide(replaced_);
  update_python_key();
}

NoModesGuard::NoModesGuard()
    : before_(mode_stack.hide_all()),
      pre_dispatch_was_kept_(dispatch_tls.kept.has(DispatchKey::PreDispatch)) {
  dispatch_tls.kept -= DispatchKey::PreDispatch;
  update_python_key();
}

NoModesGuard::~NoModesGuard() {
  mode_stack.unhide_all(before_);
  if (pre_dispatch_was_kept_) dispatch_tls.kept |= DispatchKey::PreDispatch;
  update_python_key();
}

UnsetFakeTemporarily::UnsetFakeTemporarily() {
  const ModeStack::Entry* const fake = mode_stack.top_of_rank(rank_of(ModeKey::Fake));
  if (!fake) return;
  mode_ = fake->object;
  id_ = fake->id;
  mode_stack.hide(id_);
  update_python_key();
}

UnsetFakeTemporarily::~UnsetFakeTemporarily() {
  mode_stack.unhide(id_);
  update_python_key();
}

DispatchMode* current_mode() {
  const ModeStack::Entry* const top = mode_stack.top();
  return top ? top->object : nullptr;
}

size_t mode_stack_size() { return mode_stack.num_visible(); }

bool all_modes_only_watch() {
  bool any = false, all = true;
  mode_stack.for_each_visible([&](const DispatchMode& mode) {
    any = true;
    all = all && mode.only_watches();
  });
  return any && all;
}

DispatchMode* get_mode(ModeKey key) {
  const ModeStack::Entry* const there = mode_stack.top_of_rank(rank_of(key));
  return there ? there->object : nullptr;
}

void set_mode(DispatchMode* mode) {
  SB_CHECK_VALUE(mode, "set_mode: expected a mode, got null");
  SB_CHECK_VALUE(mode->mode_key().has_value(), "set_mode: ", mode->name(),
                 " has no slot; push it with a ModeGuard");
  if (const ModeStack::Entry* const there = in_the_way_of(*mode))
    throw_slot_taken("set_mode", *there->object, *mode);
  push(mode);
}

DispatchMode* unset_mode(ModeKey key) {
  const ModeStack::Entry* const there = mode_stack.top_of_rank(rank_of(key));
  if (!there) return nullptr;
  DispatchMode* const mode = there->object;
  mode_stack.remove(there->id);
  update_python_key();
  return mode;
}

namespace internal {

PoppedMode::PoppedMode() {
  ModeStack::Entry* const top = mode_stack.top();
  mode_ = top ? top->object : nullptr;
  id_ = top ? top->id : 0;
  if (!top) return;
  ++top->hidden;
  if (!mode_stack.top()) dispatch_tls.included -= DispatchKey::Python;
}

PoppedMode::~PoppedMode() {
  if (id_ != 0 && mode_stack.unhide(id_)) dispatch_tls.included |= DispatchKey::Python;
}

DispatchMode* owner_of(absl::Span<const IValue> arguments, absl::FunctionRef<std::string()> op) {
  DispatchMode* owner = nullptr;
  for (const IValue& value : arguments) {
    value.for_each_tensor([&](const Tensor& t) {
      if (!t.impl()->mode_data()) return;
      DispatchMode& mode = t.impl()->mode_data()->mode();
      SB_CHECK(!owner || owner == &mode, op(), ": arguments belong to different modes, ",
               owner->name(), " and ", mode.name());
      owner = &mode;
    });
  }
  return owner;
}

void run_mode(DispatchMode& mode, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (const OperatorRules* const rules = find_rules(op.entry())) {
    if (const OperatorRules::ModeRule* const rule = rules->find_mode_rule(typeid(mode))) {
      (*rule)(mode, keys, stack);
      return;
    }
  }
  mode.call(op, keys, stack);
}

void run_or_ask_owners(DispatchMode& mode, const Stack& stack, size_t num_arguments,
                       absl::FunctionRef<std::string()> op,
                       absl::FunctionRef<void(DispatchMode&)> run) {
  if (!takes(mode, stack, op, run)) ask_owners(&mode, stack, num_arguments, op, run);
}

void call_mode(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  PoppedMode popped;
  DispatchMode* mode = popped.mode();
  if (!mode) {
    mode = owner_of(arguments_on(*stack, op), [&] { return op.name().to_string(); });
    SB_CHECK(mode, op.name().to_string(),
             ": entered at Python, but no mode is active and no argument belongs to one");
  }
  const size_t size = stack->size();
  try {
    run_mode(*mode, op, keys, stack);
  } catch (const ModeDeclined&) {
    const auto name = [&] { return op.name().to_string(); };
    check_declined(*mode, size, *stack, name);
    ask_owners(mode, *stack, op.entry().num_arguments(), name,
               [&](DispatchMode& m) { run_mode(m, op, keys, stack); });
  }
}

}  // namespace internal
}  // namespace sb
