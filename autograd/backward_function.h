// The backward half of a Function, whatever its C++ type.

#ifndef SWITCHBOARD_AUTOGRAD_BACKWARD_FUNCTION_H_
#define SWITCHBOARD_AUTOGRAD_BACKWARD_FUNCTION_H_

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/autograd/function_context.h"
#include "switchboard/autograd/node.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/schema/boxing.h"

namespace sb {

namespace internal {

// The gradients of a call's results.
struct ResultGradients {
  absl::Span<const Tensor> tensors;  // by place
  absl::Span<const TensorPlace> results;
};

// The result of a backward.
struct InputGradients {
  std::vector<IValue> values;
  // One for each input, that of a list a list; otherwise one for each place.
  bool by_input = false;
};

// Converts the gradients of one result to a parameter of a backward.
template <class P>
struct GradientParameter {
  static constexpr bool valid = false;
};
template <>
struct GradientParameter<Tensor> {
  static constexpr bool valid = true;
  static constexpr bool is_list = false;
  static Tensor take(absl::Span<const Tensor> tensors) { return tensors[0]; }
};
template <>
struct GradientParameter<TensorList> {
  static constexpr bool valid = true;
  static constexpr bool is_list = true;
  static TensorList take(absl::Span<const Tensor> tensors) { return tensors; }
};
template <>
struct GradientParameter<std::vector<Tensor>> {
  static constexpr bool valid = true;
  static constexpr bool is_list = true;
  static std::vector<Tensor> take(absl::Span<const Tensor> tensors) {
    return {tensors.begin(), tensors.end()};
  }
};

inline InputGradients input_gradients(Tensor grad) { return {{IValue(std::move(grad))}}; }
inline InputGradients input_gradients(std::vector<Tensor> grads) {
  InputGradients all;
  for (Tensor& grad : grads) all.values.emplace_back(std::move(grad));
  return all;
}
template <size_t N>
InputGradients input_gradients(const std::array<Tensor, N>& grads) {
  return {{grads.begin(), grads.end()}};
}
inline InputGradients input_gradients(std::vector<IValue> grads) {
  return {std::move(grads), true};
}
template <class... T>
InputGradients input_gradients(const std::tuple<T...>& grads) {
  return std::apply(
      [](const auto&... grad) {
        return InputGradients{{box(grad)...}, true};
      },
      grads);
}

}  // namespace internal

// The backward half: a function, lambda or functor.
//
//   Tensor backward(FunctionContext& ctx, const Tensor& grad);                      // one result
//   std::vector<Tensor> backward(FunctionContext& ctx, const Tensor& g0, TensorList g1);  // two
//   std::tuple<Tensor, std::vector<Tensor>> backward(FunctionContext& ctx, TensorList grads);
//
// It takes the gradient of each result, a list for a list of tensors; or, as its only parameter,
// those of all results in a list. A result that is no tensor has an undefined gradient. A gradient
// is undefined only where set_materialize_grads(false) was called.
//
// It gives the gradient of each input, undefined where there is none: a Tensor for the only input,
// a std::vector<Tensor> or std::array<Tensor, N>, in which a list of n tensors has n places; or a
// std::tuple or std::vector<IValue>, in which it has one, for a list.
class BackwardFunction {
 public:
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, BackwardFunction>) BackwardFunction(F f) {  // NOLINT
    internal::check_not_empty(f);
    internal::FunctionTypeOf<F>::template Apply<From>::make(std::move(f), this);
  }

  // Throws RuntimeError, beginning with `who`, unless there is a parameter for each result.
  void check(std::string_view who, absl::Span<const internal::TensorPlace> results) const;

  internal::InputGradients operator()(FunctionContext& ctx,
                                      const internal::ResultGradients& grads) const {
    return call_(ctx, grads);
  }

 private:
  template <class R, class Context, class... P>
  struct From {
    static_assert(std::is_same_v<Context, FunctionContext&>,
                  "backward: expected FunctionContext& as the first parameter");
    static_assert((internal::GradientParameter<std::decay_t<P>>::valid && ...),
                  "backward: expected Tensor, TensorList or std::vector<Tensor> as parameters");

    template <class F>
    static void make(F f, BackwardFunction* to) {
      to->lists_ = {internal::GradientParameter<std::decay_t<P>>::is_list...};
      to->call_ = [f = std::move(f)](FunctionContext& ctx, const internal::ResultGradients& grads) {
        return call(f, ctx, grads, std::index_sequence_for<P...>());
      };
    }
    template <class F, size_t... I>
    static internal::InputGradients call(const F& f, FunctionContext& ctx,
                                         const internal::ResultGradients& grads,
                                         std::index_sequence<I...>) {
      if constexpr (sizeof...(P) == 1)
        if ((internal::GradientParameter<std::decay_t<P>>::is_list && ...))
          return internal::input_gradients(
              f(ctx, internal::GradientParameter<std::decay_t<P>>::take(grads.tensors)...));
      return internal::input_gradients(
          f(ctx, internal::GradientParameter<std::decay_t<P>>::take(
                     grads.tensors.subspan(grads.results[I].first, grads.results[I].count))...));
    }
  };

  std::vector<bool> lists_;  // the parameters: whether each takes a list
  std::function<internal::InputGradients(FunctionContext&, const internal::ResultGradients&)> call_;
};

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_BACKWARD_FUNCTION_H_
