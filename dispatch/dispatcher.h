// The registry of operators and backend fallbacks, and the way into it.

#ifndef SWITCHBOARD_DISPATCH_DISPATCHER_H_
#define SWITCHBOARD_DISPATCH_DISPATCHER_H_

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {

namespace internal {
class DefaultFallback;
}

// Kinds of Library; see library.h.
enum class LibraryKind : uint8_t { Def, Impl, Fragment };
std::string_view to_string(LibraryKind kind);

// A set of operators. Programs use default_dispatcher(); a test may make its own and leave nothing
// behind. Thread-safe: registration may happen while other threads call, and a call runs on the
// table of before or after it, never between. Registration goes through Library.
//
// Every dispatcher starts with PyTorch's default fallbacks: fallthrough at BackendSelect,
// ADInplaceOrView, the Autocast keys that have one, FuncTorchVmapMode and VmapMode; a redispatch
// below autograd at the Autograd keys that have one; an error at Meta and the keys of vmap. And
// with those of the packages that are linked (default_fallback.h): modes call the active one at
// Python and PreDispatch. They cannot be removed, only covered by a library that allows overrides;
// but the first that is registered at AutogradPrivateUse1 takes the place of the default for good.
class Dispatcher {
 public:
  Dispatcher();
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // The operator of that name ("aten::add.Tensor") if it has a schema.
  std::optional<OperatorHandle> find_op(std::string_view name) const;
  std::optional<OperatorHandle> find_op(const OperatorName& name) const;
  // The same; throws RuntimeError that names what was asked for and the overloads that
  // exist.
  OperatorHandle find_op_or_throw(std::string_view name) const;
  // The operator even if it has only kernels; nullptr if there is nothing.
  const OperatorEntry* find_entry(const OperatorName& name) const;
  // The operators of one name ("aten::add") that have a schema, in the order in which they were
  // defined.
  std::vector<OperatorHandle> overloads(std::string_view name) const;
  // Changes with every operator that is defined or removed: a lookup is up to date as long as this
  // is the same.
  uint64_t definitions() const { return definitions_.load(std::memory_order_acquire); }
  // Changes with every kernel and fallback that is registered or removed.
  uint64_t kernel_registrations() const {
    return kernel_registrations_.load(std::memory_order_acquire);
  }
  // All operators that have a schema, sorted by name.
  std::vector<OperatorHandle> all_ops() const;
  // Names of operators of a namespace that have kernels but no schema, sorted.
  std::vector<std::string> dangling_ops(std::string_view ns) const;

  // Calls f() under the lock that guards registrations, so that it may read all of OperatorEntry. f
  // must not call an operator or register anything.
  template <class F>
  auto inspect(F&& f) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return f();
  }
  // The same for the two things that errors and tools ask most.
  Resolution resolve(const OperatorEntry& entry, DispatchKey key) const {
    return inspect([&] { return entry.resolve(key); });
  }
  std::string describe_kernels(const OperatorEntry& entry) const {
    return inspect([&] { return entry.describe_kernels(); });
  }

  // Lets an observer see the kernels that run for this dispatcher's operators on every thread.
  // Calls take the slow path meanwhile. Throws RuntimeError if there is another one.
  void observe(std::shared_ptr<CallObserver> observer);
  // Takes it off; does nothing if it is not there. Calls that are under way still tell it of their
  // end.
  void end_observing(const CallObserver* observer);
  CallObserver* observer() const { return observer_.load(std::memory_order_acquire); }

 private:
  friend class Library;
  friend class OperatorEntry;
  friend class internal::DefaultFallback;

  // The primitives of Library: each returns an id that the matching remove takes. All throw and
  // change nothing on error.
  uint64_t open_library(LibraryKind kind, const std::string& ns, const SourceLocation& where);
  void close_library(LibraryKind kind, const std::string& ns, uint64_t library);
  OperatorEntry* define(FunctionSchema&& schema, SourceLocation where, TagSet tags,
                        Definition definition);
  void undefine(OperatorEntry* entry);
  struct KernelId {
    const OperatorEntry* op;  // one of that name: kernels move to another one with the schema
    DispatchKey key;
    uint64_t id;
  };
  KernelId add_kernel(const OperatorName& name, RegisteredKernel kernel, bool allow_override);
  // Throws if a typed kernel differs from one that waits for the same schema.
  static void check_against_others(const OperatorEntry& entry, const RegisteredKernel& kernel);
  void remove_kernel(const KernelId& id);
  uint64_t add_fallback(DispatchKey key, RegisteredKernel kernel, bool allow_override);
  void remove_fallback(DispatchKey key, uint64_t id);

  const DispatchTable& resolve_table(OperatorEntry& entry);

  // From here on everything but the atomics is guarded by mutex_.
  // The fallback at `key` for an operator of that schema, which may be absent: the newest that
  // serves it among those for some operators, or else the newest for all.
  const RegisteredKernel* fallback_locked(DispatchKey key, const FunctionSchema* schema) const;
  void add_default_fallback(DispatchKey key, RegisteredKernel fallback);
  OperatorEntry* find_locked(const OperatorName& name) const;
  // The operator of that name, which may be nothing but a name so far.
  OperatorEntry& entry_for(const OperatorName& name);
  // The operator that `entry` becomes with that schema: the one that had it before, which gets the
  // kernels, or `entry` itself.
  OperatorEntry& entry_with(OperatorEntry& entry, const FunctionSchema& schema);
  // Ends an operator that has no kernels any more.
  void remove(OperatorEntry& entry);
  void remove_if_vanished(OperatorEntry& entry);
  void invalidate_all();
  void set_observer(std::shared_ptr<CallObserver> observer);
  uint64_t next_id() { return ++last_id_; }

  // Destroys what registrations replaced; every registration ends so, without the lock.
  struct ReclaimAtEnd {
    ~ReclaimAtEnd() { internal::reclaim(); }
  };

  // Not absl::Mutex: Debian's is not instrumented, so that ThreadSanitizer would see races.
  mutable std::mutex mutex_;
  // Every file that calls an operator reads this header; the hash tables it need not.
  struct Tables;
  const std::unique_ptr<Tables> tables_;
  // The fallbacks of each key, newest last.
  std::array<std::vector<std::unique_ptr<RegisteredKernel>>,
             static_cast<size_t>(DispatchKey::EndOfRuntimeKeys)>
      fallbacks_;
  uint64_t last_id_ = 0;
  std::shared_ptr<CallObserver> observer_owner_;
  std::atomic<CallObserver*> observer_{nullptr};
  std::atomic<uint64_t> definitions_{0};
  std::atomic<uint64_t> kernel_registrations_{0};
};

// The process's own dispatcher. Never destroyed.
Dispatcher& default_dispatcher();

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_DISPATCHER_H_
