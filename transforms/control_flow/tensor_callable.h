// C++ functions of tensors as values that higher-order operators take.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TENSOR_CALLABLE_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TENSOR_CALLABLE_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/objects/callable.h"

namespace sb {
namespace internal {

// How many parameters a function has that is written with all of them: f(Tensor, Tensor).
template <class F>
struct Arity : Arity<decltype(&F::operator())> {};
template <class R, class... P>
struct Arity<R (*)(P...)> {
  static constexpr size_t value = sizeof...(P);
};
template <class R, class C, class... P>
struct Arity<R (C::*)(P...)> : Arity<R (*)(P...)> {};
template <class R, class C, class... P>
struct Arity<R (C::*)(P...) const> : Arity<R (*)(P...)> {};

inline std::vector<IValue> values_of_result(const Tensor& result) { return {IValue(result)}; }
inline std::vector<IValue> values_of_result(const std::vector<Tensor>& results) {
  return {results.begin(), results.end()};
}

}  // namespace internal

// f as a Callable. f takes its tensors as one list or one by one, and gives a tensor or a list:
//
//   [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0], in[1]}; }
//   [](const Tensor& x, const Tensor& y) { return x + y; }
//
// One that takes them one by one must not be generic or overloaded. The Callable throws TypeError,
// naming `who`, if it gets more tensors, or fewer, than f takes.
template <class F>
IValue tensor_callable(std::string who, F f) {
  using Function = std::decay_t<F>;
  if constexpr (std::is_invocable_v<Function&, const std::vector<Tensor>&>) {
    return Callable::make([f = std::move(f)](std::vector<IValue> values) mutable {
      std::vector<Tensor> tensors;
      for (IValue& value : values) tensors.push_back(std::move(value).to_tensor());
      return internal::values_of_result(f(std::as_const(tensors)));
    });
  } else {
    return Callable::make(
        [who = std::move(who), f = std::move(f)](std::vector<IValue> values) mutable {
          constexpr size_t kArity = internal::Arity<Function>::value;
          SB_CHECK_TYPE(values.size() == kArity, who, ": the function takes ", kArity,
                        " tensors, got ", values.size());
          return [&]<size_t... I>(std::index_sequence<I...>) {
            return internal::values_of_result(f(values[I].to_tensor()...));
          }
          (std::make_index_sequence<kArity>());
        });
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TENSOR_CALLABLE_H_
