// Functions with a gradient of their own: a pair of C++ functions, forward and backward.
//
//   struct Square : Function<Square> {
//     static Tensor forward(FunctionContext& ctx, const Tensor& x) {
//       ctx.save_for_backward({x});
//       return mul(x, x);
//     }
//     static Tensor backward(FunctionContext& ctx, const Tensor& grad) {
//       return mul(grad, mul(ctx.saved_tensors()[0], 2));
//     }
//   };
//   Tensor y = Square::apply(x);

#ifndef SWITCHBOARD_AUTOGRAD_FUNCTION_H_
#define SWITCHBOARD_AUTOGRAD_FUNCTION_H_

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/autograd/backward_function.h"
#include "switchboard/autograd/function_context.h"
#include "switchboard/autograd/function_node.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/dispatch/objects/operator_base.h"

namespace sb {

namespace internal {

inline void take_argument(FunctionNode& node, const Tensor& t) { node.take_input(t); }
inline void take_argument(FunctionNode& node, const std::optional<Tensor>& t) {
  node.take_input(t ? *t : Tensor());
}
inline void take_argument(FunctionNode& node, TensorList list) { node.take_input(list); }
inline void take_argument(FunctionNode& node, const std::vector<Tensor>& list) {
  node.take_input(TensorList(list));
}
inline void take_argument(FunctionNode& node, OptionalTensorList list) { node.take_input(list); }
inline void take_argument(FunctionNode& node, const std::vector<std::optional<Tensor>>& list) {
  node.take_input(OptionalTensorList(list));
}
inline void take_argument(FunctionNode& node, const IValue& value) { node.take_input(value); }
template <class T>
void take_argument(FunctionNode& node, const T&) {
  node.take_other_input();
}

// The results of a forward, in the form in which the node replaces some.
inline ResultSlot slot_of(Tensor& t) { return {TensorPlace::Kind::Tensor, {&t, 1}}; }
inline ResultSlot slot_of(std::vector<Tensor>& list) {
  return {TensorPlace::Kind::List, absl::MakeSpan(list)};
}
template <class T>
ResultSlot slot_of(T&) {
  return {};
}
inline std::vector<ResultSlot> slots_of(Tensor& result) { return {slot_of(result)}; }
inline std::vector<ResultSlot> slots_of(std::vector<Tensor>& results) {
  std::vector<ResultSlot> slots;
  for (Tensor& result : results) slots.push_back(slot_of(result));
  return slots;
}
template <class... T>
std::vector<ResultSlot> slots_of(std::tuple<T...>& results) {
  return std::apply([](auto&... result) { return std::vector<ResultSlot>{slot_of(result)...}; },
                    results);
}

}  // namespace internal

// As `torch::autograd::Function`; F derives from it and has
//
// - `static R forward(FunctionContext& ctx, arguments...)`, which runs while nothing is recorded,
//   whatever it calls. R is a Tensor, a std::vector<Tensor> of several results, or a std::tuple of
//   tensors, lists of them (std::vector<Tensor>) and other values. Arguments may be of any type;
//   gradients go to Tensor, std::optional<Tensor>, TensorList and std::vector<Tensor>.
// - `static backward(FunctionContext& ctx, gradients...)`, as BackwardFunction takes it. What it
//   calls is recorded in a pass with create_graph, so that it is derived again. It runs on the
//   thread that goes backward; several may be in it at once.
//
// Nobody else may hold the results of forward(), but for inputs: the results become results of this
// Function. An input that is returned unchanged comes back as a view of itself; a result that is a
// view of an input must not be written to in place, and neither must what it is a view of: the
// gradient would pass by backward(). Inputs that forward() writes to are marked (mark_dirty) and
// returned.
template <class F>
class Function {
 public:
  // Runs forward(), and records the call if recording is on and some argument requires a gradient.
  // Throws what forward() throws, and RuntimeError for marks that do not fit, and for a backward()
  // without a parameter for each result.
  template <class... A>
  static auto apply(const A&... args) {
    static const auto kind = std::make_shared<const internal::FunctionKind>(internal::FunctionKind{
        internal::backward_name(internal::type_name(typeid(F))), &F::backward});
    const auto node = make_intrusive<internal::FunctionNode>(kind);
    (internal::take_argument(*node, args), ...);
    auto results = [&] {
      const NoGradGuard no_grad;
      return F::forward(node->context(), args...);
    }();
    node->finish(internal::slots_of(results));
    return results;
  }
};

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_FUNCTION_H_
