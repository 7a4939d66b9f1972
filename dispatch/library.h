// Registration: schemas, kernels and fallbacks that live as long as the Library that made them.

#ifndef SWITCHBOARD_DISPATCH_LIBRARY_H_
#define SWITCHBOARD_DISPATCH_LIBRARY_H_

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/dispatch/typed_op.h"

namespace sb {

namespace internal {
class StaticBlocks;  // static_library.h
}

// "DEF", "IMPL" or "FRAGMENT"; ValueError naming anything else.
LibraryKind parse_library_kind(std::string_view text);

// As `torch.library.Library`. A namespace has at most one DEF library, which owns it; any number of
// FRAGMENT ones add operators to it, and IMPL ones hold only kernels. Namespace `_` takes fallbacks
// only, in IMPL libraries. Each registration is undone when the Library closes, in any order with
// others, and remembers the place in the source that made it.
//
// Registrations are visible to all threads at once; one Library is used from one thread at a time.
// A refused call throws RuntimeError, unless another error is named, and changes nothing.
class Library {
 public:
  using Kind = LibraryKind;

  // A library of the default dispatcher, or of another; `key` is what impl() takes when it names
  // none; only an IMPL library has one.
  Library(Kind kind, std::string ns, std::optional<DispatchKey> key = std::nullopt,
          SourceLocation where = SourceLocation::current());
  Library(Dispatcher& dispatcher, Kind kind, std::string ns,
          std::optional<DispatchKey> key = std::nullopt,
          SourceLocation where = SourceLocation::current());
  ~Library();
  Library(Library&& other) noexcept;
  Library& operator=(Library&&) = delete;

  // Registers an operator. `schema` is "name.overload(...) -> ..." with or without the namespace.
  // RuntimeError if it does not parse or the operator has a schema already, ValueError if it is not
  // what its tags say (values/check_tags.h).
  OperatorHandle define(std::string_view schema, TagSet tags = {},
                        SourceLocation where = SourceLocation::current());
  // The same, with the worth of the schema's annotations: "" and "FROM_SCHEMA" (they tell
  // everything) or "CONSERVATIVE"; RuntimeError for anything else.
  OperatorHandle define(std::string_view schema, std::string_view alias_analysis, TagSet tags = {},
                        SourceLocation where = SourceLocation::current());
  // The same by a schema that was parsed before.
  OperatorHandle define(FunctionSchema schema, TagSet tags, AliasAnalysis alias_analysis,
                        SourceLocation where);
  // Registers an operator with a kernel for it at the library's key, or CompositeImplicitAutograd.
  // A bare name takes its schema from the kernel, which must then be a typed one: arguments are
  // called _0, _1, ... The schema comes first, and stays if the kernel is refused.
  template <class F>
  requires(!std::is_convertible_v<F, TagSet> &&
           !std::is_convertible_v<F, std::string_view>) OperatorHandle
      define(std::string_view schema, F kernel, SourceLocation where = SourceLocation::current()) {
    return define_with_kernel(schema, make_kernel(std::move(kernel)), where);
  }

  // Registers an operator declared by SB_OP.
  template <class Tag>
  OperatorHandle define(const Op<Tag>&, TagSet tags = {},
                        SourceLocation where = SourceLocation::current()) {
    return define(Tag::schema, tags, where);
  }

  // Registers a kernel at a key, runtime or alias: a function, a lambda, a functor, a boxed one, or
  // `fallthrough`. The newest kernel at a key runs, and when its library closes, the one before.
  // RuntimeError if its type does not agree with the schema, whichever comes first, or if a Meta
  // kernel would hide a CompositeImplicitAutograd one: such an operator decomposes, and it is what
  // it calls that needs Meta kernels. See allow_override().
  template <class F>
  void impl(std::string_view op, DispatchKey key, F kernel,
            SourceLocation where = SourceLocation::current()) {
    add_kernel(op, key, make_kernel(std::move(kernel)), where);
  }
  // At the library's own key, or CompositeImplicitAutograd if it has none.
  template <class F>
  requires(!std::is_same_v<F, DispatchKey>) void impl(
      std::string_view op, F kernel, SourceLocation where = SourceLocation::current()) {
    add_kernel(op, default_key(), make_kernel(std::move(kernel)), where);
  }
  // The same for an operator declared by SB_OP: a kernel of the wrong type does not compile.
  template <class Tag, class F>
  void impl(const Op<Tag>&, DispatchKey key, F kernel,
            SourceLocation where = SourceLocation::current()) {
    add_kernel(Op<Tag>::name(), key, Op<Tag>::make_kernel(std::move(kernel)), where);
  }
  template <class Tag, class F>
  requires(!std::is_same_v<F, DispatchKey>) void impl(
      const Op<Tag>&, F kernel, SourceLocation where = SourceLocation::current()) {
    add_kernel(Op<Tag>::name(), default_key(), Op<Tag>::make_kernel(std::move(kernel)), where);
  }

  // The same for an operator that was looked up. NotImplementedError if it was removed since.
  template <class F>
  void impl(const OperatorHandle& op, DispatchKey key, F kernel,
            SourceLocation where = SourceLocation::current()) {
    add_kernel(name_of(op), key, make_kernel(std::move(kernel)), where);
  }
  template <class F>
  requires(!std::is_same_v<F, DispatchKey>) void impl(
      const OperatorHandle& op, F kernel, SourceLocation where = SourceLocation::current()) {
    add_kernel(name_of(op), default_key(), make_kernel(std::move(kernel)), where);
  }
  // One kernel at several keys: at all of them or, when one is refused, at none.
  template <class F>
  void impl_at(std::string_view op, const std::vector<DispatchKey>& keys, F kernel,
               SourceLocation where = SourceLocation::current()) {
    add_kernels(op, keys, make_kernel(std::move(kernel)), where);
  }
  // Registers a backend fallback: a boxed kernel or `fallthrough` for every operator without a
  // better kernel at `key` (the library's own if none is given).
  template <class F>
  void fallback(DispatchKey key, F kernel, SourceLocation where = SourceLocation::current()) {
    add_fallback(key, make_kernel(std::move(kernel)), where);
  }
  template <class F>
  requires(!std::is_same_v<F, DispatchKey>) void fallback(
      F kernel, SourceLocation where = SourceLocation::current()) {
    SB_CHECK(key_.has_value(), to_string(),
             ": fallback needs a dispatch key; name it, or give the library one");
    add_fallback(*key_, make_kernel(std::move(kernel)), where);
  }

  // A fallback for those operators only whose schema `serves` accepts, before one for all; the
  // others keep the fallback that they have.
  template <class F>
  void fallback_for(DispatchKey key, ServesSchema serves, F kernel,
                    SourceLocation where = SourceLocation::current()) {
    add_fallback(key, make_kernel(std::move(kernel)), where, serves);
  }

  // Ties a registration elsewhere (SimpleRegistry) to this library: it is undone when this closes.
  void own(RegistrationHandle handle);

  // Whether later calls put a kernel over one that is there. Unless told, impl() does, except in
  // the blocks of a program (SB_LIBRARY), whose order nobody knows, and fallback() does not. Told
  // false, both throw RuntimeError instead; told true, both do, and so does a Meta kernel over a
  // CompositeImplicitAutograd one.
  Library& allow_override(bool allow = true) {
    override_ = allow ? Override::All : Override::None;
    return *this;
  }

  // Undoes every registration, newest first. Idempotent; the Library is then useless.
  void close();

  Kind kind() const { return kind_; }
  const std::string& ns() const { return ns_; }
  Dispatcher& dispatcher() const { return *dispatcher_; }
  // "Library(DEF, ns=aten, dispatch_key=CPU)".
  std::string to_string() const;

 private:
  friend class internal::StaticBlocks;

  DispatchKey default_key() const { return key_.value_or(DispatchKey::CompositeImplicitAutograd); }
  static std::string name_of(const OperatorHandle& op);
  OperatorName qualified(OperatorName name) const;
  OperatorHandle define_with_kernel(std::string_view schema, KernelFunction kernel,
                                    SourceLocation where);
  void add_kernel(std::string_view op, DispatchKey key, KernelFunction kernel,
                  SourceLocation where);
  void add_kernels(std::string_view op, const std::vector<DispatchKey>& keys,
                   const KernelFunction& kernel, SourceLocation where);
  void add_fallback(DispatchKey key, KernelFunction kernel, SourceLocation where,
                    ServesSchema serves = nullptr);
  struct Fallback {
    DispatchKey key;
    uint64_t id;
  };
  using Registration =
      std::variant<OperatorEntry*, Dispatcher::KernelId, Fallback, RegistrationHandle>;
  // Undoes the registrations after the first `count`, newest first.
  static void undo(Dispatcher& dispatcher, std::vector<Registration>& registrations,
                   size_t count) noexcept;

  Dispatcher* dispatcher_;
  Kind kind_;
  std::string ns_;
  std::optional<DispatchKey> key_;
  SourceLocation where_;
  uint64_t id_ = 0;  // 0: closed
  enum class Override : uint8_t { None, Kernels, All } override_ = Override::Kernels;
  DefinitionOrigin origin_ = DefinitionOrigin::RunTime;
  std::vector<Registration> registrations_;
};

// A Library whose registrations cannot outlive the scope that it stands in, exceptions or not: for
// tests. As `torch.library._scoped_library`.
class ScopedLibrary : public Library {
 public:
  using Library::Library;
  ScopedLibrary(ScopedLibrary&&) = delete;
};

namespace internal {

// A library of the default dispatcher that is filled at program start and lasts until the end.
// If its registration fails, the error is printed and the program ends; that of a plugin makes
// load_library throw.
class StaticLibrary {
 public:
  StaticLibrary(LibraryKind kind, const char* ns, std::optional<DispatchKey> key,
                void (*fill)(Library&), SourceLocation where = SourceLocation::current());
};

}  // namespace internal
}  // namespace sb

#define SB_CONCAT_(a, b) a##b
#define SB_CONCAT(a, b) SB_CONCAT_(a, b)
#define SB_LIBRARY_BLOCK_(kind, ns, key, m, fill)                                              \
  static void fill(::sb::Library& m);                                                          \
  static const ::sb::internal::StaticLibrary SB_CONCAT(fill, _library)(kind, #ns, key, &fill); \
  static void fill([[maybe_unused]] ::sb::Library& m)

// Registration at program start, in the form of a block:
//
//   SB_LIBRARY(demo, m) { m.define("twice(Tensor x) -> Tensor"); }
//   SB_LIBRARY_IMPL(demo, CPU, m) { m.impl("twice", twice_cpu); }
//   SB_LIBRARY_FRAGMENT(aten, m) { ... }
#define SB_LIBRARY(ns, m) \
  SB_LIBRARY_BLOCK_(::sb::LibraryKind::Def, ns, ::std::nullopt, m, SB_CONCAT(sb_fill_, __COUNTER__))
#define SB_LIBRARY_FRAGMENT(ns, m)                                      \
  SB_LIBRARY_BLOCK_(::sb::LibraryKind::Fragment, ns, ::std::nullopt, m, \
                    SB_CONCAT(sb_fill_, __COUNTER__))
#define SB_LIBRARY_IMPL(ns, key, m)                                         \
  SB_LIBRARY_BLOCK_(::sb::LibraryKind::Impl, ns, ::sb::DispatchKey::key, m, \
                    SB_CONCAT(sb_fill_, __COUNTER__))

#endif  // SWITCHBOARD_DISPATCH_LIBRARY_H_
