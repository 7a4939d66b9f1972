// One operator: its schema, its kernels at each key, and the table that calls go by.

#ifndef SWITCHBOARD_DISPATCH_OPERATOR_ENTRY_H_
#define SWITCHBOARD_DISPATCH_OPERATOR_ENTRY_H_

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/definition.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/registered_kernels.h"
#include "switchboard/dispatch/resolve_key.h"
#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/tag.h"

namespace sb {

class Dispatcher;

// "(Tensor, int) -> (Tensor)".
std::string to_string(const CppSignature& signature);

// Data that a package above keeps with an operator.
class OperatorNote {
 public:
  virtual ~OperatorNote() = default;
  // A kernel, a fallback or the schema came or went. Under the dispatcher's lock.
  virtual void registrations_changed() {}
  // The operator was removed. Under the dispatcher's lock.
  virtual void removed() {}
};
// Rules: what the operator does beside its kernels (operator_rules.h). Facts: what fake mode found
// out about it.
enum class NoteKind : uint8_t { Rules, Facts };
inline constexpr size_t kNumNotes = 2;

// How a slot was filled: the resolution rule that did, and the kernel of which key (null if there
// is none).
struct Resolution {
  ResolutionRule rule = ResolutionRule::Missing;
  DispatchKey source = DispatchKey::Undefined;  // the key that the kernel is registered at
  const RegisteredKernel* kernel = nullptr;
};

// The table that calls go by: a kernel for every runtime key, and for each backend the
// functionalities whose kernel on it calls do not pass over. Immutable once published.
struct DispatchTable {
  std::array<Kernel, kNumSlots> slots{};
  std::array<DispatchKeySet, kNumBackends> masks{};
  std::array<ResolutionRule, kNumSlots> rules{};  // by which each slot was filled

  // The keys of a call whose arguments carry `arguments`: what the thread includes added, what it
  // excludes and what calls pass over taken away. That is looked up on the highest backend of all.
  DispatchKeySet call_keys(DispatchKeySet arguments) const {
    const DispatchKeySet all = arguments | dispatch_tls.included;
    return all & dispatch_tls.kept & masks[all.backend_index()];
  }
  const Kernel& operator[](DispatchKeySet keys) const { return slots[keys.slot()]; }
};

// The table of an operator that nobody called since its last registration: no kernels, so that
// every call takes the slow path, which computes the real one.
extern constinit const DispatchTable kUnresolvedTable;

// The first word of an operator: all that a typed call needs of it.
struct TableHolder {
  constexpr explicit TableHolder(const DispatchTable* table) : table_pointer(table) {}
  const DispatchTable& table() const { return *table_pointer.load(std::memory_order_acquire); }

  std::atomic<const DispatchTable*> table_pointer;
};

// An entry is the place of an operator: of one name with one schema, which never changes once set.
// A Dispatcher makes entries and keeps them, so that a handle never dangles and a program that
// defines and removes without end does not grow. Between a removal and the next definition with
// that very schema calls throw; each definition is a generation. What is not atomic is guarded by
// the dispatcher's lock.
class OperatorEntry : public TableHolder {
 public:
  OperatorEntry(Dispatcher& dispatcher, OperatorName name);
  ~OperatorEntry();

  const OperatorName& name() const { return name_; }
  Dispatcher& dispatcher() const { return dispatcher_; }
  bool has_schema() const { return schema_.has_value(); }
  // Throws NotImplementedError, naming the operator, if it has kernels only or was removed.
  const FunctionSchema& schema() const;
  SourceLocation defined_at() const { return defined_at_.load(std::memory_order_relaxed); }
  TagSet tags() const { return tags_.load(std::memory_order_relaxed); }
  bool has_tag(Tag tag) const { return tags().has(tag); }
  Definition definition() const { return definition_.load(std::memory_order_relaxed); }
  // Grows from one definition of the dispatcher to the next.
  uint64_t defined_order() const { return defined_order_.load(std::memory_order_relaxed); }
  // Counts how often the operator was defined and removed: odd while it is there.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
  bool dead() const { return generation() % 2 == 0; }

  // table() is the table of this moment; kUnresolvedTable until a call has needed one since the
  // last registration, and while the dispatcher is observed. A table may go at the next
  // registration unless the thread holds a CallPin (reclaim.h), as it does in every kernel.

  // The resolved table, computed if need be. Throws NotImplementedError if the operator was
  // removed. The caller holds a CallPin.
  const DispatchTable& resolved_table() {
    const DispatchTable* const table = resolved_.load(std::memory_order_acquire);
    return table ? *table : resolve_table();
  }

  // The note of that kind on the operator; nullptr while there is none. Lives as long as the entry.
  OperatorNote* find_note(NoteKind kind) const {
    return notes_[static_cast<size_t>(kind)].load(std::memory_order_acquire);
  }
  // Makes `note` that of the operator, unless there is one; gives the one that is there.
  // Thread-safe.
  OperatorNote& set_note(NoteKind kind, std::unique_ptr<OperatorNote> note);

  // The union of the keys of the arguments on the end of the stack. Throws RuntimeError if the
  // stack is too short.
  [[gnu::always_inline]] inline DispatchKeySet argument_keys(const Stack& stack) const {
    if (__builtin_expect(stack.size() < num_arguments_, 0)) throw_short_stack(stack);
    const IValue* const end = stack.data() + stack.size();
    DispatchKeySet keys;
    for (const uint8_t from_end : tensor_arguments_) {
      const IValue& value = *(end - from_end);
      if (__builtin_expect(value.is_Tensor(), 1))
        keys |= value.to_tensor().key_set();
      else
        value.for_each_tensor([&](const Tensor& t) { keys |= t.key_set(); });
    }
    return keys;
  }
  size_t num_arguments() const { return num_arguments_; }
  size_t num_returns() const { return num_returns_; }

  // Throws TypeError unless the schema has exactly these C++ types.
  void check_signature(const CppSignature& signature) const;

  // Everything below is read under the dispatcher's lock: use Dispatcher::inspect.

  // Computes one slot. `key` is a runtime key.
  Resolution resolve(DispatchKey key) const;
  // The kernels registered at a key, runtime or alias, newest last.
  absl::Span<const RegisteredKernel> kernels_at(DispatchKey key) const { return kernels_.at(key); }
  // The keys that have kernels, in the order of the enum.
  std::vector<DispatchKey> keys_with_kernels() const { return kernels_.keys(); }
  // "CPU (ops/add.cc:31), Meta (ops/add.cc:32)".
  std::string describe_kernels() const;
  // "demo::f(Tensor x) -> Tensor (ops/f.cc:30)". Needs no lock; throws as schema() does.
  std::string describe_schema() const;
  // The error of a boxed call with too few values on its stack.
  [[noreturn, gnu::cold]] void throw_short_stack(const Stack& stack) const;

 private:
  friend class Dispatcher;

  // A table, and the state of the kernels in it.
  struct OwnedTable {
    DispatchTable table;
    std::vector<IntrusivePtr<KernelState>> states;
  };

  // Throws if a kernel that is there does not agree with the schema, which is defined at `where`.
  void check_kernels(const FunctionSchema& schema, const SourceLocation& where) const;
  // A schema that passed the check, which the entry may have had before.
  void set_schema(FunctionSchema&& schema, const SourceLocation& where);
  // Throws if a typed kernel does not agree with the schema; says whether it can be called unboxed.
  bool check_kernel(const FunctionSchema& schema, const SourceLocation& where,
                    const RegisteredKernel& kernel) const;
  const DispatchTable& resolve_table();
  // Computes the table.
  const DispatchTable& build_table();
  // Gives typed calls the table, if there is one, or withholds it.
  void publish_table(bool publish);
  // Retires the table, if there is one.
  void invalidate_table();
  void begin_generation() { generation_.fetch_add(1, std::memory_order_acq_rel); }
  void end_generation() { generation_.fetch_add(1, std::memory_order_acq_rel); }
  bool vanished() const { return !schema_ && kernels_.empty(); }

  Dispatcher& dispatcher_;
  OperatorName name_;
  std::unique_ptr<OperatorEntry> next_;  // of the same name with another schema
  std::optional<FunctionSchema> schema_;
  std::atomic<SourceLocation> defined_at_{SourceLocation()};
  std::atomic<TagSet> tags_{TagSet()};
  size_t num_arguments_ = 0;
  size_t num_returns_ = 0;
  // The arguments that can hold tensors, as distances from the end of the stack.
  absl::InlinedVector<uint8_t, 8> tensor_arguments_;
  RegisteredKernels kernels_;
  std::shared_ptr<const OwnedTable> table_;                    // null until a call needs one
  std::atomic<const DispatchTable*> resolved_{nullptr};        // of table_
  std::array<std::atomic<OperatorNote*>, kNumNotes> notes_{};  // owned
  std::atomic<uint32_t> generation_{0};
  std::atomic<Definition> definition_{Definition()};
  std::atomic<uint64_t> defined_order_{0};
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OPERATOR_ENTRY_H_
