// C++ functions as kernels: the two entries of a function pointer, a lambda or a functor.

#ifndef SWITCHBOARD_DISPATCH_MAKE_KERNEL_H_
#define SWITCHBOARD_DISPATCH_MAKE_KERNEL_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/schema/boxing.h"

namespace sb::internal {

// The type of a call to F, with a leading DispatchKeySet taken off.
template <class R, class... A>
struct FunctionType {
  static constexpr bool takes_key_set = false;
  using Return = R;
  template <template <class...> class T>
  using Apply = T<R, A...>;
};
template <class R, class... A>
struct FunctionTypeWithKeys : FunctionType<R, A...> {
  static constexpr bool takes_key_set = true;
};

template <class F>
struct FunctionTypeOf : FunctionTypeOf<decltype(&std::remove_reference_t<F>::operator())> {};
template <class R, class... A>
struct FunctionTypeOf<R (*)(A...)> : FunctionType<R, A...> {};
template <class R, class... A>
struct FunctionTypeOf<R (*)(DispatchKeySet, A...)> : FunctionTypeWithKeys<R, A...> {};
template <class C, class R, class... A>
struct FunctionTypeOf<R (C::*)(A...)> : FunctionType<R, A...> {};
template <class C, class R, class... A>
struct FunctionTypeOf<R (C::*)(A...) const> : FunctionType<R, A...> {};
template <class C, class R, class... A>
struct FunctionTypeOf<R (C::*)(DispatchKeySet, A...)> : FunctionTypeWithKeys<R, A...> {};
template <class C, class R, class... A>
struct FunctionTypeOf<R (C::*)(DispatchKeySet, A...) const> : FunctionTypeWithKeys<R, A...> {};

// A functor or a function pointer as kernel state.
template <class F>
struct FunctorState final : KernelState {
  explicit FunctorState(F f) : functor(std::move(f)) {}
  mutable F functor;
};

// A captureless lambda needs no state: constructing it at each call costs nothing.
template <class F>
inline constexpr bool is_stateless = std::is_empty_v<F>&& std::is_default_constructible_v<F>;

// Plain integers in the place of symbols, which this settles: guards say what they are.
class SettledInts {
 public:
  explicit SettledInts(SymIntArrayRef symbols)
      : ints_(reinterpret_cast<const int64_t*>(symbols.data()), symbols.size()) {
    for (const SymInt& s : symbols) {
      if (s.is_symbolic()) [[unlikely]] {
        settle(symbols);
        break;
      }
    }
  }
  operator IntArrayRef() const { return ints_; }  // NOLINT

 private:
  [[gnu::cold, gnu::noinline]] void settle(SymIntArrayRef symbols) {
    for (const SymInt& s : symbols) settled_.push_back(s.guard_int());
    ints_ = settled_;
  }
  std::vector<int64_t> settled_;
  IntArrayRef ints_;
};

// A parameter of an operator passed on to the parameter of a kernel that asks for plain integers
// where the schema has symbolic ones.
template <class To, class From>
decltype(auto) adapt_argument(const From& v) {
  if constexpr (std::is_same_v<std::decay_t<To>, From>) {
    return (v);
  } else if constexpr (std::is_same_v<From, SymInt>) {
    return v.guard_int();
  } else if constexpr (std::is_same_v<From, SymIntArrayRef>) {
    return SettledInts(v);
  } else if constexpr (std::is_same_v<From, std::optional<SymInt>>) {
    return v ? std::optional<int64_t>(v->guard_int()) : std::nullopt;
  } else {
    static_assert(std::is_same_v<From, OptionalSymIntArrayRef>);
    return v ? std::optional<SettledInts>(*v) : std::nullopt;
  }
}

// True if a kernel parameter P can take what a schema's argument A gives.
template <class A, class P>
inline constexpr bool parameter_fits =
    (!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>)&&(
        std::is_same_v<std::decay_t<A>, std::decay_t<P>> ||
        (std::is_same_v<std::decay_t<A>, SymInt> && std::is_same_v<std::decay_t<P>, int64_t>) ||
        (std::is_same_v<A, SymIntArrayRef> && std::is_same_v<std::decay_t<P>, IntArrayRef>) ||
        (std::is_same_v<std::decay_t<A>, std::optional<SymInt>> &&
         std::is_same_v<std::decay_t<P>, std::optional<int64_t>>) ||
        (std::is_same_v<A, OptionalSymIntArrayRef> &&
         std::is_same_v<std::decay_t<P>, OptionalIntArrayRef>));

// The entries of functor type F for an operator of type R(A...).
template <class F, class R, class... A>
struct KernelEntries {
  template <class FR, class... P>
  struct Invoke {
    static constexpr bool fits = [] {
      if constexpr (sizeof...(P) != sizeof...(A) || !std::is_same_v<FR, R>)
        return false;
      else
        return (parameter_fits<A, P> && ...);
    }();

    static R call(const KernelState* state, [[maybe_unused]] DispatchKeySet keys, A... args) {
      auto run = [&](auto& f) -> R {
        if constexpr (FunctionTypeOf<F>::takes_key_set) {
          return f(keys, adapt_argument<P, std::decay_t<A>>(args)...);
        } else {
          return f(adapt_argument<P, std::decay_t<A>>(args)...);
        }
      };
      if constexpr (is_stateless<F>) {
        F f;
        return run(f);
      } else {
        return run(static_cast<const FunctorState<F>*>(state)->functor);
      }
    }
  };
  using Invoker = typename FunctionTypeOf<F>::template Apply<Invoke>;
};

// The boxed way into any unboxed kernel of that type: one instance for each signature.
template <class R, class... A>
struct BoxedAdapter {
  static void call(const Kernel& kernel, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
    call(kernel, keys, stack, std::index_sequence_for<A...>());
  }

 private:
  template <size_t... I>
  static void call(const Kernel& kernel, DispatchKeySet keys, Stack* stack,
                   std::index_sequence<I...>) {
    const auto unboxed =
        reinterpret_cast<R (*)(const KernelState*, DispatchKeySet, A...)>(kernel.unboxed);
    [[maybe_unused]] IValue* const first = stack->data() + (stack->size() - sizeof...(A));
    if constexpr (std::is_void_v<R>) {
      unboxed(kernel.state, keys, Unboxed<std::decay_t<A>>(first[I]).get()...);
      stack->resize(stack->size() - sizeof...(A));
    } else if constexpr (std::is_same_v<R, Tensor> && sizeof...(A) > 0) {
      Tensor result = unboxed(kernel.state, keys, Unboxed<std::decay_t<A>>(first[I]).get()...);
      *first = std::move(result);  // in the place of the first argument
      stack->erase(stack->end() - (sizeof...(A) - 1), stack->end());
    } else {
      TypedResult<R> result{
          unboxed(kernel.state, keys, Unboxed<std::decay_t<A>>(first[I]).get()...)};
      box_results(ReturnCodes<R>::span(), result.places.data(), sizeof...(A), stack);
    }
  }
};

// Throws ValueError for a function pointer or std::function that is empty.
template <class F>
void check_not_empty(const F&) {}
template <class R, class... A>
void check_not_empty(R (*const& f)(A...)) {
  SB_CHECK_VALUE(f, "expected a kernel, got a null function pointer");
}
template <class Signature>
void check_not_empty(const std::function<Signature>& f) {
  SB_CHECK_VALUE(f, "expected a kernel, got an empty std::function");
}

// A functor as a kernel for an operator of type R(A...).
template <class F, class R, class... A>
KernelFunction make_kernel_for(F functor) {
  check_not_empty(functor);
  KernelFunction kernel;
  kernel.entries.unboxed =
      reinterpret_cast<UnboxedEntry>(&KernelEntries<F, R, A...>::Invoker::call);
  kernel.entries.boxed = &BoxedAdapter<R, A...>::call;
  if constexpr (!is_stateless<F>) {
    kernel.state = make_intrusive<FunctorState<F>>(std::move(functor));
    kernel.entries.state = kernel.state.get();
  }
  kernel.signature = &cpp_signature<R, A...>;
  return kernel;
}

template <class R, class... A>
struct PlainSignature {
  template <class F>
  static KernelFunction make(F functor) {
    static_assert((SchemaArgument<A> && ...),
                  "a kernel's parameter is not the C++ type of any schema type");
    return make_kernel_for<F, R,
                           typename CppType<CodeOfArgument<std::decay_t<A>>::value>::Argument...>(
        std::move(functor));
  }
};

template <class F>
struct BoxedFunctorState final : KernelState {
  explicit BoxedFunctorState(F f) : functor(std::move(f)) {}
  static void call(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys,
                   Stack* stack) {
    static_cast<const BoxedFunctorState*>(kernel.state)->functor(op, keys, stack);
  }
  mutable F functor;
};

template <class F>
inline constexpr bool is_boxed_kernel =
    std::is_invocable_v<F, const OperatorHandle&, DispatchKeySet, Stack*>;

}  // namespace sb::internal

namespace sb {

// A function pointer, lambda or functor as a kernel whose operator is known by name only. Its type
// is checked against the schema when it is registered. A functor that can be called with (const
// OperatorHandle&, DispatchKeySet, Stack*) is a boxed kernel.
template <class F>
KernelFunction make_kernel(F functor) {
  if constexpr (std::is_same_v<F, Fallthrough>) {
    return make_fallthrough_kernel();
  } else if constexpr (std::is_same_v<F, KernelFunction>) {
    return functor;
  } else if constexpr (internal::is_boxed_kernel<F>) {
    internal::check_not_empty(functor);
    KernelFunction kernel;
    kernel.state = make_intrusive<internal::BoxedFunctorState<F>>(std::move(functor));
    kernel.entries = {nullptr, &internal::BoxedFunctorState<F>::call, kernel.state.get()};
    return kernel;
  } else {
    return internal::FunctionTypeOf<F>::template Apply<internal::PlainSignature>::make(
        std::move(functor));
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MAKE_KERNEL_H_
