// Typed calls: an operator declared once, by its schema, is a C++ function object.
//
//   SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
//   Tensor z = add(x, y);        // alpha takes the schema's default
//
// The declaration gives the C++ signature, the run-time schema (Library::define) and the check that
// a kernel fits (Library::impl). The call path has no allocation, lock, hash or string.

#ifndef SWITCHBOARD_DISPATCH_TYPED_OP_H_
#define SWITCHBOARD_DISPATCH_TYPED_OP_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "switchboard/core/tensor_options.h"
#include "switchboard/dispatch/boxing.h"
#include "switchboard/dispatch/default_arguments.h"
#include "switchboard/dispatch/direct_call.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/schema_literal.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/spare_stack.h"
#include "switchboard/dispatch/typed_op.h"

namespace sb {
namespace internal {

// The keys that one argument adds to a call; absent tensors and everything else add none.
template <class T>
DispatchKeySet keys_of(const T&) {
  return {};
}
inline DispatchKeySet keys_of(const Tensor& t) { return t.key_set(); }
inline DispatchKeySet keys_of(const std::optional<Tensor>& t) {
  return t ? t->key_set() : DispatchKeySet();
}
inline DispatchKeySet keys_of(TensorList list) {
  DispatchKeySet keys;
  for (const Tensor& t : list) keys |= t.key_set();
  return keys;
}
inline DispatchKeySet keys_of(OptionalTensorList list) {
  DispatchKeySet keys;
  for (const std::optional<Tensor>& t : list) keys |= keys_of(t);
  return keys;
}
inline DispatchKeySet keys_of(const OptionalSpan<TensorList>& list) {
  return list ? keys_of(*list) : DispatchKeySet();
}

// Calls by a signature R(A...). `Find` finds the operator when the fast path does not: it has a
// method entry() that returns it or throws.
template <class R, class... A>
struct TypedCall {
  using Unboxed = R (*)(const KernelState*, DispatchKeySet, A...);

  template <class Find>
  static R call(const TableHolder& holder, const Find& find, A... args) {
    CallPin pin;
    const DispatchTable& table = holder.table();
    const DispatchKeySet keys = table.call_keys((DispatchKeySet() | ... | keys_of(args)));
    const Kernel& kernel = table[keys];
    if (kernel.unboxed) [[likely]] {
      return reinterpret_cast<Unboxed>(kernel.unboxed)(kernel.state, keys,
                                                       std::forward<A>(args)...);
    }
    return call_slow(find, std::forward<A>(args)...);
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
    return redispatch_slow(find, keys, args...);
  }

 private:
  // The first call since a registration, a kernel that only exists boxed, an observed thread, a
  // missing kernel.
  template <class Find>
  [[gnu::noinline, gnu::cold]] static R call_slow(const Find& find, A... args) {
    OperatorEntry* const entry = find.entry();
    const SlowTarget target = slow_target(entry, (DispatchKeySet() | ... | keys_of(args)));
    return run(entry, target.kernel, target.keys, std::forward<A>(args)...);
  }
  template <class Find>
  [[gnu::noinline, gnu::cold]] static R redispatch_slow(const Find& find, DispatchKeySet keys,
                                                        A... args) {
    OperatorEntry* const entry = find.entry();
    return run(entry, entry->resolved_table()[keys], keys, std::forward<A>(args)...);
  }
  static R run(OperatorEntry* entry, const Kernel& kernel, DispatchKeySet keys, A... args) {
    if (kernel.unboxed) {
      ObservedCall observed(entry, keys, kernel);
      return reinterpret_cast<Unboxed>(kernel.unboxed)(kernel.state, keys,
                                                       std::forward<A>(args)...);
    }
    if (enters_mode(kernel)) {
      DirectArguments arguments;
      (arguments.add(args), ...);
      if (arguments.are_plain()) {
        const auto enter = [&](const Kernel& k) -> R {
          return reinterpret_cast<Unboxed>(k.unboxed)(k.state, DispatchKey::Meta, args...);
        };
        if constexpr (std::is_void_v<R>) {
          if (run_direct(entry, arguments.tensors(),
                         [&](const Kernel& k, DirectResults) { enter(k); }))
            return;
        } else {
          std::optional<R> result;
          if (run_direct(entry, arguments.tensors(), [&](const Kernel& k, DirectResults results) {
                results.add(result.emplace(enter(k)));
              }))
            return *std::move(result);
        }
      }
    }
    const SpareStack stack;
    (stack.get()->push_back(box(args)), ...);
    run_boxed(entry, kernel, keys, stack.get());
    return ReturnUnboxer<R>::take(stack.get());
  }
};

// The signature of an operator's tag.
template <class Tag>
struct OpTraits {
  static constexpr SchemaLiteral schema = parse_schema_literal(Tag::schema);
  template <size_t I>
  using Argument = argument_type<schema.arguments[I].type>;

  template <size_t... I>
  static auto returns(std::index_sequence<I...>) -> Returns<return_type<schema.returns[I].type>...>;
  using Return = typename decltype(returns(std::make_index_sequence<schema.num_returns>()))::Type;

  // T<Return, Argument...>.
  template <template <class...> class T, size_t... I>
  static auto apply(std::index_sequence<I...>) -> T<Return, Argument<I>...>;
  template <template <class...> class T>
  using Apply = decltype(apply<T>(std::make_index_sequence<schema.num_arguments>()));
};

// One arity of a call operator: the arguments I... are given, the others take their defaults.
template <class Op, class Tag, class Given>
struct CallWith;
template <class Op, class Tag, size_t... I>
struct CallWith<Op, Tag, std::index_sequence<I...>> {
  using Traits = OpTraits<Tag>;
  typename Traits::Return operator()(typename Traits::template Argument<I>... args) const {
    return complete(std::make_index_sequence<Traits::schema.num_arguments - sizeof...(I)>(),
                    static_cast<typename Traits::template Argument<I>>(args)...);
  }

 private:
  template <size_t... Missing, class... Given>
  typename Traits::Return complete(std::index_sequence<Missing...>, Given&&... given) const {
    return static_cast<const Op*>(this)->call(
        std::forward<Given>(given)...,
        default_argument<std::decay_t<typename Traits::template Argument<sizeof...(I) + Missing>>>(
            DefaultText<Tag, sizeof...(I) + Missing>())...);
  }
};

// Where a schema's arguments are those of TensorOptions (dtype, layout, device, pin_memory, each
// optional), the index of the first; num_arguments where they are not.
template <class Tag>
consteval size_t find_options() {
  constexpr const SchemaLiteral& schema = OpTraits<Tag>::schema;
  constexpr TypeCode options[] = {optional_of(SB_T(DType)), optional_of(SB_T(Layout)),
                                  optional_of(SB_T(Device)), optional_of(SB_T(Bool))};
  for (size_t i = 0; i + 4 <= schema.num_arguments; ++i) {
    bool here = true;
    for (size_t k = 0; k < 4; ++k) here = here && schema.arguments[i + k].type == options[k];
    if (here) return i;
  }
  return schema.num_arguments;
}

// A call that gives the arguments before the options, and a TensorOptions for these.
template <class Op, class Tag, class Before>
struct CallWithOptions;
template <class Op, class Tag, size_t... I>
struct CallWithOptions<Op, Tag, std::index_sequence<I...>> {
  using Traits = OpTraits<Tag>;
  // A dtype alone goes by the ordinary call: it is the first of the options.
  template <class Options>
  requires(std::is_convertible_v<Options, TensorOptions> &&
           !std::is_convertible_v<Options, std::optional<DType>>) typename Traits::Return
  operator()(typename Traits::template Argument<I>... args, const Options& options) const {
    const TensorOptions o(options);
    return (*static_cast<const Op*>(this))(
        static_cast<typename Traits::template Argument<I>>(args)..., o.dtype, o.layout, o.device,
        o.pin_memory);
  }
};
// For operators without options: something to inherit from.
template <class Op, class Tag>
struct CallWithoutOptions {
  struct Never {};
  void operator()(Never) const = delete;
};
template <class Op, class Tag>
using OptionsCall =
    std::conditional_t<find_options<Tag>() == OpTraits<Tag>::schema.num_arguments,
                       CallWithoutOptions<Op, Tag>,
                       CallWithOptions<Op, Tag, std::make_index_sequence<find_options<Tag>()>>>;

template <class Op, class Tag, class Omitted>
struct CallOperators;
template <class Op, class Tag, size_t... K>
struct CallOperators<Op, Tag, std::index_sequence<K...>>
    : CallWith<Op, Tag, std::make_index_sequence<OpTraits<Tag>::schema.num_required() + K>>...,
      OptionsCall<Op, Tag> {
  using OptionsCall<Op, Tag>::operator();
  using CallWith<Op, Tag,
                 std::make_index_sequence<OpTraits<Tag>::schema.num_required() + K>>::operator()...;
};

}  // namespace internal

// An operator of the default dispatcher, found at its first call. Declare it with SB_OP. Callable
// with all arguments of the schema, or without trailing ones that have defaults; throws what
// kernels throw, RuntimeError if no such operator is registered, NotImplementedError if it has no
// kernel for the arguments. Thread-safe.
template <class Tag>
class Op : public internal::CallOperators<
               Op<Tag>, Tag,
               std::make_index_sequence<internal::OpTraits<Tag>::schema.num_arguments -
                                        internal::OpTraits<Tag>::schema.num_required() + 1>> {
  template <class R, class... A>
  struct Maker {
    template <class F>
    static constexpr bool fits = internal::KernelEntries<F, R, A...>::Invoker::fits;
    template <class F>
    static KernelFunction make(F functor) {
      static_assert(fits<F>, "the kernel's type does not agree with the operator's schema");
      return internal::make_kernel_for<F, R, A...>(std::move(functor));
    }
  };
  template <class R, class... A>
  struct Codes {
    static constexpr const CppSignature& value = cpp_signature<R, A...>;
  };

 public:
  using Traits = internal::OpTraits<Tag>;
  using Return = typename Traits::Return;
  using Call = typename Traits::template Apply<internal::TypedCall>;

  constexpr Op() = default;

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
    return internal::bind_typed_op(name(), Traits::template Apply<Codes>::value, &holder_);
  }

  // The operator for boxed calls.
  OperatorHandle handle() const { return OperatorHandle(entry()); }

  // Whether an F can be a kernel of this operator.
  template <class F>
  static constexpr bool fits = Traits::template Apply<Maker>::template fits<F>;
  // A kernel made for this operator. Does not compile unless `functor` fits the schema: parameters
  // as the schema's C++ types, plain integers where it has symbolic ones, a leading DispatchKeySet
  // if wanted.
  template <class F>
  static KernelFunction make_kernel(F functor) {
    if constexpr (std::is_same_v<F, Fallthrough> || internal::is_boxed_kernel<F>) {
      return sb::make_kernel(std::move(functor));
    } else {
      return Traits::template Apply<Maker>::make(std::move(functor));
    }
  }

 private:
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
