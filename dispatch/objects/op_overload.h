// One overload of an operator, as an object.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_OP_OVERLOAD_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_OP_OVERLOAD_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/typed_overload.h"

namespace sb {

using KeywordArguments = std::vector<std::pair<std::string, IValue>>;

// As `torch._ops.OpOverload`: immutable, one word, cheap to copy; two are equal if they are the
// same overload. Valid as long as its dispatcher. After its operator was removed, its names,
// comparison and hash still work and everything else throws NotImplementedError; defined anew with
// the same schema, the operator is this one again. Thread-safe.
//
// Look one up by `sb::ops["aten"]["add"]["Tensor"]` (op_namespace.h), or make it of a handle.
class OpOverload {
 public:
  explicit OpOverload(const OperatorHandle& handle) : handle_(handle) {}
  // The operator that SB_OP declared. Throws RuntimeError if it is not registered.
  template <class Tag>
  OpOverload(const Op<Tag>& op) : handle_(op.handle()) {}  // NOLINT: the same thing

  const OperatorHandle& handle() const { return handle_; }
  operator const OperatorHandle&() const { return handle_; }  // NOLINT

  // "aten::add.Tensor"; "aten::mm" where the overload has no name. As `name()`.
  std::string name() const { return handle_.name().to_string(); }
  // "aten".
  std::string_view ns() const { return handle_.name().ns(); }
  // "add".
  std::string_view op_name() const;
  // "Tensor"; "default" where the overload has no name.
  std::string_view overload_name() const;
  // "aten.add.Tensor", "aten.mm.default". As `str(op)`.
  std::string to_string() const;
  // "<OpOverload(op='aten.add', overload='Tensor')>". As `repr(op)`.
  std::string repr() const;

  const FunctionSchema& schema() const { return handle_.schema(); }
  TagSet tags() const;
  bool has_tag(Tag tag) const { return tags().has(tag); }
  AliasAnalysis alias_analysis() const;
  // Returns whether a block of the program or of a plugin defined it (SB_LIBRARY), rather than a
  // Library that was opened at run time. As `_defined_in_python`, turned round.
  bool is_defined_statically() const;
  // Returns whether some argument is aliased and none is written to. As `is_view`.
  bool is_view() const { return schema().is_view(); }

  // Calls with positional and named arguments, as bind_arguments takes them; gives the results.
  // With a FakeObject among them, see call_with_fake_objects.
  Arguments call(Arguments positional, KeywordArguments keyword = {}) const;
  // The same with positional C++ values: op(x, y).
  template <class... A>
  requires(std::is_convertible_v<A, IValue>&&...) Arguments operator()(A&&... args) const {
    return call(pack(std::forward<A>(args)...));
  }
  // The same with a stack of the schema's values; see OperatorHandle::call_boxed.
  void call_boxed(Stack* stack) const;
  // Enters at the highest key of exactly `keys`; see OperatorHandle::redispatch_boxed.
  Arguments redispatch(DispatchKeySet keys, Arguments positional,
                       KeywordArguments keyword = {}) const;
  void redispatch_boxed(DispatchKeySet keys, Stack* stack) const {
    handle_.redispatch_boxed(keys, stack);
  }
  // As a C++ function; see TypedOverload.
  template <class Signature>
  TypedOverload<Signature> typed() const {
    return TypedOverload<Signature>(handle_);
  }

  // One key of an operator, to be called whatever keys the arguments have.
  class AtKey {
   public:
    Arguments call(Arguments positional, KeywordArguments keyword = {}) const;
    template <class... A>
    requires(std::is_convertible_v<A, IValue>&&...) Arguments operator()(A&&... args) const {
      return call(pack(std::forward<A>(args)...));
    }
    void call_boxed(Stack* stack) const;

   private:
    friend class OpOverload;
    AtKey(const OperatorHandle& handle, DispatchKey key) : handle_(handle), key_(key) {}
    OperatorHandle handle_;
    DispatchKey key_;
  };
  // Runs the kernel of one key: the newest that is registered there, at an alias key too; else what
  // the computed table holds for it. The kernel gets the key set that an ordinary call would have.
  // The call throws NotImplementedError if there is no kernel, RuntimeError if it is a fallthrough
  // or the slot is ambiguous. As `_op_dk`.
  AtKey at(DispatchKey key) const { return AtKey(handle_, key); }

  // Returns whether the operator has a kernel that decompose() would run.
  bool has_decomposition() const;
  // Runs the CompositeImplicitAutograd kernel, or returns nullopt where there is none (PyTorch:
  // NotImplemented). As `decompose`.
  std::optional<Arguments> decompose(Arguments positional, KeywordArguments keyword = {}) const;

  // Returns whether a kernel is registered at exactly this key, runtime or alias; a key rule counts
  // (OperatorBase).
  bool has_kernel_for_dispatch_key(DispatchKey key) const;
  // Returns whether a kernel or key rule is registered at a key of the set; those at alias keys
  // never count.
  bool has_kernel_for_any_dispatch_key(DispatchKeySet keys) const;
  // Returns whether the computed table has a kernel for the key: alias keys and fallbacks count,
  // key rules do not. Throws ValueError for an alias key. As
  // `_dispatch_has_computed_kernel_for_dispatch_key`.
  bool has_computed_kernel_for_dispatch_key(DispatchKey key) const;
  // Returns whether the kernel that is registered at this key is a fallthrough; false where there
  // is none. As `_dispatch_kernel_for_dispatch_key_is_fallthrough`.
  bool kernel_for_dispatch_key_is_fallthrough(DispatchKey key) const;

  friend bool operator==(const OpOverload& a, const OpOverload& b) {
    return a.handle_ == b.handle_;
  }
  template <class H>
  friend H AbslHashValue(H h, const OpOverload& op) {
    return H::combine(std::move(h), &op.handle_.entry());
  }

 private:
  template <class... A>
  static Arguments pack(A&&... args) {
    Arguments values;
    values.reserve(sizeof...(A));
    (values.emplace_back(std::forward<A>(args)), ...);
    return values;
  }

  OperatorHandle handle_;
};

// to_string().
std::ostream& operator<<(std::ostream& out, const OpOverload& op);

}  // namespace sb

template <>
struct std::hash<sb::OpOverload> {
  size_t operator()(const sb::OpOverload& op) const noexcept {
    return std::hash<const void*>()(&op.handle().entry());
  }
};

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_OP_OVERLOAD_H_
