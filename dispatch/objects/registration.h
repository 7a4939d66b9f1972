// Registration by free functions, as `torch.library` has them beside its Library.
//
//   sb::define("mylib::twice", "(Tensor x) -> Tensor");
//   sb::impl("mylib::twice", {"cpu", "cuda"}, twice);
//   sb::register_kernel("mylib::twice", "meta", [](const Tensor& x) { return empty_like(x); });
//
// Without a Library, what they register in the default dispatcher stays until the process ends.
// With one, it goes with the Library. Thread-safe, but for the Library that is given.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_REGISTRATION_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_REGISTRATION_H_

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/objects/qualified_name.h"

namespace sb {

// Names an operator: by its qualified name, an overload, what SB_OP declared, or an object that has
// one (a custom operator: anything with a qualified_name()). As `_op_identifier`.
class OpIdentifier {
 public:
  template <class T>
  requires std::convertible_to<const T&, std::string_view> OpIdentifier(const T& name)  // NOLINT
      : name_(parse_qualified_name(name)) {}
  OpIdentifier(const OpOverload& op) : name_(op.handle().name()) {}  // NOLINT
  template <class Tag>
  OpIdentifier(const Op<Tag>& op) : name_(parse_qualified_name(op.name())) {}  // NOLINT
  template <class T>
  requires requires(const T& t) {
    { t.qualified_name() } -> std::convertible_to<std::string>;
  }
  OpIdentifier(const T& op) : name_(parse_qualified_name(std::string(op.qualified_name()))) {}

  const OperatorName& name() const { return name_; }

 private:
  OperatorName name_;
};

// The operator. Throws RuntimeError if there is none. As `torch._library.utils.lookup_op`.
OpOverload lookup_op(const OpIdentifier& op);

// "default" -> CompositeExplicitAutograd, "cuda" -> CUDA. Throws ValueError for anything that is
// not a device type; a device with its index is none.
DispatchKey device_type_to_key(std::string_view device_type);

// The targets of kernels: device types ("cpu") and dispatch keys ("AutogradCPU",
// DispatchKey::Meta), one or a list of them, mixed.
class KernelTypes {
 public:
  class One {
   public:
    template <class T>
    requires std::convertible_to<const T&, std::string_view> One(const T& name)  // NOLINT
        : key(key_of(name)) {}
    One(DispatchKey key) : key(key) {}  // NOLINT
    DispatchKey key;

   private:
    static DispatchKey key_of(std::string_view name);
  };

  template <class T>
  requires std::convertible_to<const T&, One> KernelTypes(const T& one)  // NOLINT
      : KernelTypes{One(one)} {}
  KernelTypes(std::initializer_list<One> types);
  explicit KernelTypes(const std::vector<std::string>& types);

  // Each key once, in the order in which they were given.
  const std::vector<DispatchKey>& keys() const { return keys_; }

 private:
  void add(DispatchKey key);
  std::vector<DispatchKey> keys_;
};

// Defines an operator by its qualified name and a schema without a name, "(Tensor x) -> Tensor".
// Throws ValueError if the name or the schema has not that form, RuntimeError as Library::define.
OpOverload define(std::string_view qualname, std::string_view schema, TagSet tags = {},
                  Library* lib = nullptr, SourceLocation where = SourceLocation::current());

namespace internal {
void impl_at(const OperatorName& op, const KernelTypes& types, const KernelFunction& kernel,
             Library* lib, SourceLocation where);
}

// Registers one kernel for every type: for all of them or, when one is refused, for none. Throws as
// Library::impl, and ValueError for an unknown type.
template <class F>
void impl(const OpIdentifier& op, const KernelTypes& types, F kernel, Library* lib = nullptr,
          SourceLocation where = SourceLocation::current()) {
  internal::impl_at(op.name(), types, make_kernel(std::move(kernel)), lib, where);
}

namespace internal {
// Who takes the kernels that are registered by an operator's name: the object of a custom operator,
// which checks their results. In default_simple_registry().
struct KernelOwner {
  std::function<void(const KernelTypes& types, const KernelFunction& kernel, SourceLocation where)>
      add_kernel;
};
void register_kernel_at(const OperatorName& op, const KernelTypes& types,
                        const KernelFunction& kernel, Library* lib, SourceLocation where);
}  // namespace internal

// The same. Without types the kernel is for every device: CompositeExplicitAutograd. Of an operator
// that custom_op() made, this is register_kernel() of the object: RuntimeError if a Library is
// given besides, as such kernels go with the object.
template <class F>
void register_kernel(const OpIdentifier& op, const KernelTypes& types, F kernel,
                     Library* lib = nullptr, SourceLocation where = SourceLocation::current()) {
  internal::register_kernel_at(op.name(), types, make_kernel(std::move(kernel)), lib, where);
}
template <class F>
void register_kernel(const OpIdentifier& op, std::nullopt_t, F kernel, Library* lib = nullptr,
                     SourceLocation where = SourceLocation::current()) {
  register_kernel(op, DispatchKey::CompositeExplicitAutograd, std::move(kernel), lib, where);
}

// The older forms, which begin with the Library: define() defines an operator with its kernel at
// the library's key, impl() registers a kernel there.
template <class F>
OpOverload define(Library& lib, std::string_view schema, F kernel,
                  SourceLocation where = SourceLocation::current()) {
  return OpOverload(lib.define(schema, std::move(kernel), where));
}
template <class F>
void impl(Library& lib, std::string_view name, F kernel,
          SourceLocation where = SourceLocation::current()) {
  lib.impl(name, std::move(kernel), where);
}

// An operator and its kernels in one expression, where Python has decorators:
//
//   sb::DefineOp(m, "twice(Tensor x) -> Tensor")
//       .impl(DispatchKey::CPU, twice_cpu)
//       .impl({"cuda", "Meta"}, twice_anywhere);
//
// Each call throws as the function of Library; what came before it stays registered.
class DefineOp {
 public:
  DefineOp(Library& lib, std::string_view schema, TagSet tags = {},
           SourceLocation where = SourceLocation::current())
      : lib_(lib), op_(lib.define(schema, tags, where)) {}

  template <class F>
  DefineOp& impl(const KernelTypes& types, F kernel,
                 SourceLocation where = SourceLocation::current()) {
    lib_.impl_at(op_.name(), types.keys(), std::move(kernel), where);
    return *this;
  }
  const OpOverload& op() const { return op_; }

 private:
  Library& lib_;
  OpOverload op_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_REGISTRATION_H_
