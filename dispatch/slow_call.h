// The slow path of a call, which cannot go straight to an unboxed kernel.

#ifndef SWITCHBOARD_DISPATCH_SLOW_CALL_H_
#define SWITCHBOARD_DISPATCH_SLOW_CALL_H_

#include <atomic>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/schema/typed_frame.h"

namespace sb {

// Sees every kernel that runs on a thread (ObserveCalls), or on all threads (Dispatcher::observe):
// the base of traces and counters.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // `keys` is the key set that the kernel gets; its highest key is the one that the kernel runs
  // for.
  virtual void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) = 0;
  // Called in reverse order of enter, on exceptions too.
  virtual void leave(const OperatorEntry& op, DispatchKeySet keys) = 0;
};

// Installs an observer on this thread for a scope; the one before it is restored at the end.
class ObserveCalls {
 public:
  explicit ObserveCalls(CallObserver* observer)
      : include_(observer ? DispatchKeySet(DispatchKey::Observed) : DispatchKeySet()),
        previous_(dispatch_tls.observer) {
    dispatch_tls.observer = observer;
  }
  ~ObserveCalls() { dispatch_tls.observer = previous_; }
  ObserveCalls(const ObserveCalls&) = delete;
  ObserveCalls& operator=(const ObserveCalls&) = delete;

 private:
  IncludeKeysGuard include_;
  CallObserver* previous_;
};

namespace internal {

// Tells the observers of the thread and of the dispatcher, if there are such, that a kernel runs in
// this scope.
class ObservedCall {
 public:
  ObservedCall(OperatorEntry* entry, DispatchKeySet keys, const Kernel& kernel);
  ~ObservedCall();
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;

 private:
  CallObserver* of_all_;
  CallObserver* of_thread_;
  OperatorEntry* entry_;
  DispatchKeySet keys_;
};

[[noreturn, gnu::cold]] void throw_wrong_returns(const OperatorEntry& entry, int64_t left);
// Throws TypeError that names the argument if one on the end of the stack does not fit the schema.
[[gnu::cold]] void throw_if_misfit(const OperatorEntry& entry, const Stack& stack);

// Runs a kernel's boxed entry. The stack holds its arguments. Throws RuntimeError if it leaves
// another number of results than the schema has.
inline void run_unobserved(OperatorEntry* entry, const Kernel& kernel, DispatchKeySet keys,
                           Stack* stack) {
  const size_t after = stack->size() - entry->num_arguments() + entry->num_returns();
  try {
    kernel.boxed(kernel, OperatorHandle(entry), keys, stack);
  } catch (const TypeError&) {
    // A typed kernel has left the stack as it was, and may have found a value of the wrong type.
    if (kernel.unboxed) throw_if_misfit(*entry, *stack);
    throw;
  }
  if (__builtin_expect(stack->size() != after, 0))
    throw_wrong_returns(*entry, static_cast<int64_t>(stack->size() - after + entry->num_returns()));
}

// Runs a boxed kernel, observed; throws the dispatch error if there is none.
void run_boxed(OperatorEntry* entry, const Kernel& kernel, DispatchKeySet keys, Stack* stack);

// A typed call that the fast path does not serve: the first since a registration, a kernel that
// only exists boxed, an observed thread, no kernel. With `redispatch` it enters at the highest key
// of exactly these.
void call_slow(OperatorEntry& entry, const DispatchKeySet* redispatch, const TypedFrame& frame);

// Held by a typed handle until its first call.
inline constinit TableHolder unbound_op{&kUnresolvedTable};

// Finds the operator of a typed handle that is unbound, or whose operator was removed, in the
// default dispatcher, checks that its schema has the C++ types of `signature`, and remembers it.
// Throws RuntimeError or TypeError.
OperatorEntry* bind_typed_op(std::string_view name, const CppSignature& signature,
                             std::atomic<TableHolder*>* holder);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SLOW_CALL_H_
