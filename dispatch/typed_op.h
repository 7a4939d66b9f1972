// Typed calls: an operator declared once, by its schema, is a C++ function object.
//
//   SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
//   Tensor z = add(x, y);  // alpha takes the schema's default
//
// The declaration gives the C++ signature, the run-time schema (Library::define) and the check that
// a kernel fits (Library::impl). The call path has no allocation, lock, hash or string.

#ifndef SWITCHBOARD_DISPATCH_TYPED_OP_H_
#define SWITCHBOARD_DISPATCH_TYPED_OP_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "switchboard/core/tensor_options.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/dispatch/schema/default_arguments.h"
#include "switchboard/dispatch/schema/schema_literal.h"
#include "switchboard/dispatch/schema/typed_frame.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb {
namespace internal {

// Calls by a signature R(A...). Only the fast path is here: the slow one gets type codes and
// pointers.
template <class R, class... A>
struct TypedCall {
  using Unboxed = R (*)(const KernelState*, DispatchKeySet, A...);
  static constexpr const CppSignature& types = cpp_signature<R, A...>;

  // `Find` finds the operator when the fast path does not: it has a method entry() that returns it
  // or throws.
  template <class Find>
  static R call(const TableHolder& holder, const Find& find, A... args) {
    CallPin pin;
    const DispatchTable& table = holder.table();
    const DispatchKeySet keys = table.call_keys(keys_in(args...));
    const Kernel& kernel = table[keys];
    if (kernel.unboxed) [[likely]] {
      return reinterpret_cast<Unboxed>(kernel.unboxed)(kernel.state, keys,
                                                       std::forward<A>(args)...);
    }
    return slow(&entry_of<Find>, &find, nullptr, std::forward<A>(args)...);
  }

  // By reference: the one copy of an argument is the kernel's.
  template <class Find>
  static R redispatch(const TableHolder& holder, const Find& find, DispatchKeySet keys,
                      const std::remove_reference_t<A>&... args) {
    CallPin pin;
    const Kernel& kernel = holder.table()[keys];
    if (kernel.unboxed && !dispatch_tls.observer) [[likely]] {
      return reinterpret_cast<Unboxed>(kernel.unboxed)(kernel.state, keys, args...);
    }
    const DispatchKeySet copy = keys;  // so that the one above may stay in a register
    return slow(&entry_of<Find>, &find, &copy, args...);
  }

 private:
  static void enter(const Kernel& kernel, DispatchKeySet keys, const TypedFrame& frame) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      const auto run = [&]() -> R {
        return reinterpret_cast<Unboxed>(kernel.unboxed)(
            kernel.state, keys,
            *static_cast<const std::remove_reference_t<A>*>(frame.arguments[I])...);
      };
      if constexpr (std::is_void_v<R>)
        run();
      else
        *static_cast<R*>(frame.result) = run();
    }
    (std::index_sequence_for<A...>());
  }
  static_assert(sizeof...(A) <= 64, "an operator has at most 64 arguments");
  static constexpr CallDescription kDescription{&types,
                                                mask_of(types, is_tensor_code),
                                                mask_of(types, is_tensors_code),
                                                mask_of(types, is_special_code),
                                                mask_of(types, is_special_but_scalar),
                                                std::is_same_v<R, Tensor>,
                                                &enter};

  template <class Find>
  [[gnu::cold]] static OperatorEntry& entry_of(const void* find) {
    return *static_cast<const Find*>(find)->entry();
  }
  [[gnu::noinline]] static R slow(OperatorEntry& (*entry_of)(const void*), const void* find,
                                  const DispatchKeySet* keys, A... args) {
    OperatorEntry& entry = entry_of(find);
    const void* const arguments[] = {std::addressof(args)..., nullptr};
    if constexpr (std::is_void_v<R>) {
      call_slow(entry, keys, {kDescription, arguments, nullptr, nullptr});
    } else {
      TypedResult<R> result;
      call_slow(entry, keys, {kDescription, arguments, result.places.data(), &result.value});
      return std::move(result.value);
    }
  }
};

template <class Tag, class Indices>
struct ReturnOf;
template <class Tag, size_t... I>
struct ReturnOf<Tag, std::index_sequence<I...>>
    : Returns<typename CppType<schema_literal<Tag>.returns[I].type>::Return...> {};

// The signature of an operator's tag.
template <class Tag>
struct OpTraits {
  static constexpr const SchemaLiteral& schema = schema_literal<Tag>;
  template <size_t I>
  using Argument = typename CppType<schema.arguments[I].type>::Argument;

  using Return =
      typename ReturnOf<Tag, std::make_index_sequence<schema_literal<Tag>.num_returns>>::Type;

  // T<Return, Argument...>.
  template <template <class...> class T, size_t... I>
  static auto apply(std::index_sequence<I...>)
      -> T<Return, typename CppType<schema.arguments[I].type>::Argument...>;
  template <template <class...> class T>
  using Apply = decltype(apply<T>(std::make_index_sequence<schema.num_arguments>()));
};

// A call that gives the first arguments, A...; the others take their defaults. Each file that sees
// an operator instantiates the class, and the function if it makes such a call.
template <class Op, class Tag, class R, class... A>
struct CallWith {
  R operator()(A... args) const {
    constexpr size_t kGiven = sizeof...(A);
    return [&]<size_t... I>(std::index_sequence<I...>)->R {
      return static_cast<const Op*>(this)->call(
          static_cast<A>(args)...,
          default_argument<std::decay_t<typename OpTraits<Tag>::template Argument<kGiven + I>>>(
              DefaultText<Tag, kGiven + I>())...);
    }
    (std::make_index_sequence<schema_literal<Tag>.num_arguments - kGiven>());
  }
};

// Returns the index of the first of the arguments of TensorOptions (dtype, layout, device,
// pin_memory, each optional), or num_arguments where the schema has none.
consteval size_t find_options(const SchemaLiteral& schema) {
  for (size_t i = 0; i + 4 <= schema.num_arguments; ++i) {
    const SchemaLiteral::Value* const a = schema.arguments + i;
    if (a[0].type == optional_of(SB_T(DType)) && a[1].type == optional_of(SB_T(Layout)) &&
        a[2].type == optional_of(SB_T(Device)) && a[3].type == optional_of(SB_T(Bool)))
      return i;
  }
  return schema.num_arguments;
}

// A call that gives the arguments before the options, A..., and a TensorOptions for these.
template <class Op, class Tag, class R, class... A>
struct CallWithOptions {
  // A dtype alone goes by the ordinary call: it is the first of the options.
  template <class Options>
  requires(std::is_convertible_v<Options, TensorOptions> &&
           !std::is_convertible_v<Options, std::optional<DType>>) R
  operator()(A... args, const Options& options) const {
    const TensorOptions o(options);
    return (*static_cast<const Op*>(this))(static_cast<A>(args)..., o.dtype, o.layout, o.device,
                                           o.pin_memory);
  }
};

template <class... Calls>
struct CallOperators : Calls... {
  using Calls::operator()...;
};

// Kernels for a signature.
template <class R, class... A>
struct TypedKernels {
  template <class F>
  static constexpr bool fits = KernelEntries<F, R, A...>::Invoker::fits;
  template <class F>
  static KernelFunction make(F functor) {
    static_assert(fits<F>, "the kernel's type does not agree with the operator's schema");
    return make_kernel_for<F, R, A...>(std::move(functor));
  }
};

// CallWith or CallWithOptions of the arguments I...
template <class Op, class Tag, template <class...> class Call, class Indices>
struct CallOf;
template <class Op, class Tag, template <class...> class Call, size_t... I>
struct CallOf<Op, Tag, Call, std::index_sequence<I...>> {
  using Type = Call<Op, Tag, typename OpTraits<Tag>::Return,
                    typename CppType<schema_literal<Tag>.arguments[I].type>::Argument...>;
};
template <class Op, class Tag, size_t given, template <class...> class Call = CallWith>
using CallGiven = typename CallOf<Op, Tag, Call, std::make_index_sequence<given>>::Type;

template <class Op, class Tag, size_t required, size_t all, size_t options>
struct CallsOf {
  template <class Indices>
  struct Each;
  template <size_t... K>
  struct Each<std::index_sequence<K...>> {
    using Type = CallOperators<CallGiven<Op, Tag, required + K>...,
                               CallGiven<Op, Tag, options, CallWithOptions>>;
  };
  using Type = typename Each<std::make_index_sequence<all - required + 1>>::Type;
};
// Most operators have no options, and few or no defaults.
template <class Op, class Tag, size_t required, size_t all>
struct CallsOf<Op, Tag, required, all, all> {
  template <class Indices>
  struct Each;
  template <size_t... K>
  struct Each<std::index_sequence<K...>> {
    using Type = CallOperators<CallGiven<Op, Tag, required + K>...>;
  };
  using Type = typename Each<std::make_index_sequence<all - required + 1>>::Type;
};
template <class Op, class Tag, size_t all>
struct CallsOf<Op, Tag, all, all, all> {
  using Type = CallGiven<Op, Tag, all>;
};

}  // namespace internal

// An operator of the default dispatcher, found at its first call. Declare it with SB_OP. Callable
// with all arguments of the schema, or without trailing ones that have defaults; throws what
// kernels throw, RuntimeError if no such operator is registered, NotImplementedError if it has no
// kernel for the arguments. Thread-safe.
template <class Tag>
class Op : public internal::CallsOf<Op<Tag>, Tag, internal::schema_literal<Tag>.num_required(),
                                    internal::schema_literal<Tag>.num_arguments,
                                    internal::find_options(internal::schema_literal<Tag>)>::Type {
 public:
  using Traits = internal::OpTraits<Tag>;
  using Return = typename Traits::Return;
  using Call = typename Traits::template Apply<internal::TypedCall>;

  // The schema, and "aten::add.Tensor".
  static constexpr std::string_view schema() { return Tag::schema; }
  static constexpr std::string_view name() { return Traits::schema.name; }

  // A call with every argument given, in the schema's order.
  template <class... A>
  Return call(A&&... args) const {
    return Call::call(*holder_.load(std::memory_order_acquire), *this, std::forward<A>(args)...);
  }
  // Enters the operator at the highest key of exactly `keys`; see OperatorHandle::redispatch_boxed.
  template <class... A>
  Return redispatch(DispatchKeySet keys, A&&... args) const {
    return Call::redispatch(*holder_.load(std::memory_order_acquire), *this, keys,
                            std::forward<A>(args)...);
  }
  // The operator itself, found if need be. Throws RuntimeError if it is not registered.
  OperatorEntry* entry() const {
    TableHolder* const held = holder_.load(std::memory_order_acquire);
    if (held != &internal::unbound_op) {
      OperatorEntry* const entry = static_cast<OperatorEntry*>(held);
      if (!entry->dead()) return entry;
    }
    return internal::bind_typed_op(name(), Traits::template Apply<internal::SignatureCodes>::value,
                                   &holder_);
  }

  // The operator for boxed calls.
  OperatorHandle handle() const { return OperatorHandle(entry()); }

  // True if an F can be a kernel of this operator.
  template <class F>
  static constexpr bool fits = Traits::template Apply<internal::TypedKernels>::template fits<F>;
  // A kernel made for this operator. Does not compile unless `functor` fits the schema: parameters
  // as the schema's C++ types, plain integers where it has symbolic ones, a leading DispatchKeySet
  // if wanted.
  template <class F>
  static KernelFunction make_kernel(F functor) {
    if constexpr (std::is_same_v<F, Fallthrough> || internal::is_boxed_kernel<F>) {
      return sb::make_kernel(std::move(functor));
    } else {
      return Traits::template Apply<internal::TypedKernels>::make(std::move(functor));
    }
  }

  // Public, and without a constructor, so that a declaration compiles in less time.
  mutable std::atomic<TableHolder*> holder_{&internal::unbound_op};
};

}  // namespace sb

namespace sb {
namespace internal {

// The schema that SB_OP was given, as text of static storage. One that is derived at compile time
// (ops/define/forms.h) has room for more than its text, which goes.
constexpr size_t schema_length(std::string_view) { return 0; }
template <size_t>
constexpr std::string_view schema_text(std::string_view text) {
  return text;
}
template <class Derived>
constexpr size_t schema_length(const Derived& derived) requires requires {
  derived.length;
}
{ return derived.length; }
template <size_t length, class Derived>
constexpr std::array<char, length> schema_text(const Derived& derived) requires requires {
  derived.length;
}
{
  std::array<char, length> text{};
  for (size_t i = 0; i < length; ++i) text[i] = derived.text[i];
  return text;
}
constexpr std::string_view schema_view(std::string_view text) { return text; }
template <size_t length>
constexpr std::string_view schema_view(const std::array<char, length>& text) {
  return {text.data(), length};
}

// A derived schema says in its type which form it is, of which operator. SB_OP declares a function
// that takes this type and returns the tag of the form, so that the form is found by the operator.
template <class Form, class Tag>
struct FormKey {};
template <class Written, class Tag>
struct FormKeyOf {
  using type = FormKey<void, Tag>;
};
template <class Written, class Tag>
requires requires { typename Written::Key; }
struct FormKeyOf<Written, Tag> {
  using type = typename Written::Key;
};

}  // namespace internal

// The forms of an operator, and the tag of that which an operator was declared with.
struct InplaceForm {};
struct OutForm {};
template <class Form, class Tag>
using form_of = decltype(declared_form(internal::FormKey<Form, Tag>()));
template <class Form, class Tag>
concept HasForm = requires {
  declared_form(internal::FormKey<Form, Tag>());
};

}  // namespace sb

// Declares an operator as a function object named `handle`, in the namespace where it stands. Its
// schema is a literal, or derived from that of another operator:
//
//   SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
//   SB_OP(add_, inplace_of(add));
#define SB_OP(handle, schema_of_handle)                                                        \
  struct handle##_op {                                                                         \
    static constexpr auto written = schema_of_handle;                                          \
    static constexpr auto text =                                                               \
        ::sb::internal::schema_text<::sb::internal::schema_length(written)>(written);          \
    static constexpr ::std::string_view schema = ::sb::internal::schema_view(text);            \
  };                                                                                           \
  constexpr handle##_op declared_form(                                                         \
      typename ::sb::internal::FormKeyOf<decltype(handle##_op::written), handle##_op>::type) { \
    return {};                                                                                 \
  }                                                                                            \
  inline constinit const ::sb::Op<handle##_op> handle {}

#endif  // SWITCHBOARD_DISPATCH_TYPED_OP_H_
