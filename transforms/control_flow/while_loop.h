// A function again and again, as long as the data says so.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_WHILE_LOOP_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_WHILE_LOOP_H_

#include <functional>
#include <utility>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// `higher_order::while_loop(cond_fn, body_fn, carried_inputs, additional_inputs)`: two Callables
// and two lists of tensors. Both functions take the carried and then the additional ones; the body
// gives new carried ones. As `torch.ops.higher_order.while_loop`.
HigherOrderOperator& while_loop_op();

// `higher_order::while_loop_stack_output(...)` of the same arguments: what is carried after each
// trip, stacked along a new first dimension; of no trip the carried inputs, as one row. As
// `torch.ops.higher_order.while_loop_stack_output`. A loop that a trace records runs as this where
// a gradient will need what each trip began with. In a fake mode the number of rows is a symbol.
// With `true` as fifth argument, of who shows the rows to nobody, it gives what is carried in the
// end before them, as `while_loop` does, and in a fake mode one row stands for all.
HigherOrderOperator& while_loop_stack_output_op();

// Replaces the carried tensors by body_fn(carried...) while cond_fn(carried...) holds, and gives
// what they are in the end: copies of the inputs if it never holds. As `torch.while_loop`. The
// functions are as in tensor_callable.h; cond_fn gives a bool tensor without dimensions. Both
// take the additional inputs, which stay as they are, behind the carried ones.
//
//   std::vector<Tensor> r = while_loop([](const Tensor& i, const Tensor& x) { return i < 10; },
//                                      [](const Tensor& i, const Tensor& x) {
//                                        return std::vector<Tensor>{i + 1, x * 2};
//                                      },
//                                      {i, x});
//
// What the body gives must agree with what it took in number, dtypes and devices (RuntimeError,
// naming the result and both). A trace records each function once, and a fake mode runs each once:
// there sizes and strides must agree too. What functions may not do is in cond.h.
template <class C, class B>
std::vector<Tensor> while_loop(C cond_fn, B body_fn, std::vector<Tensor> carried_inputs,
                               std::vector<Tensor> additional_inputs = {});

// The same loop with numbers among what it carries: ints, floats and bools, which the functions get
// and give as such, and which are numbers in the end. cond_fn gives a bool or a bool tensor. As
// `torch.while_loop` with ints.
//
//   std::vector<IValue> r = while_loop_values(
//       [](const std::vector<IValue>& in) { return IValue(in[0].to_sym_int() < 10); },
//       [](const std::vector<IValue>& in) {
//         return std::vector<IValue>{in[0].to_sym_int() + 1, in[1].to_tensor() * 2};
//       },
//       {0, x});
//
// Only data tell what a number is in a later trip. Where the functions run once for all trips, in a
// fake mode, it is a symbol, for which the mode needs a ShapeEnv (DataDependentOutputError without
// one), and so it is in a trace of its tensors. A trace of tensors with data, in which the number
// of one trip would be burnt in, refuses it. No gradient passes a number.
//
// TypeError for a carried value of another kind, RuntimeError for a result of another kind than was
// taken; both name the argument or result.
std::vector<IValue> while_loop_values(
    std::function<IValue(const std::vector<IValue>&)> cond_fn,
    std::function<std::vector<IValue>(const std::vector<IValue>&)> body_fn,
    std::vector<IValue> carried_inputs, std::vector<Tensor> additional_inputs = {});

// The same loop; gives what is carried after each trip, stacked along a new first dimension. As
// `while_loop_stack_output`.
template <class C, class B>
std::vector<Tensor> while_loop_stack_output(C cond_fn, B body_fn,
                                            std::vector<Tensor> carried_inputs,
                                            std::vector<Tensor> additional_inputs = {});

namespace control_flow {

// The arguments of a call of either operator, `op`. Throws what is wrong with them.
struct WhileLoopCall {
  explicit WhileLoopCall(const std::vector<IValue>& stack,
                         std::string_view op = "higher_order::while_loop");

  // Carried tensors and then the additional ones: what the functions take.
  std::vector<Tensor> with_additional(std::vector<Tensor> carried) const;
  // RuntimeError unless these, which cond_fn gave, are one bool tensor without dimensions.
  void check_condition(const std::vector<Tensor>& results) const;

  FunctionArgument cond_fn, body_fn;
  std::vector<Tensor> carried, additional;
  bool with_last;
};

std::vector<Tensor> call_while_loop(IValue cond_fn, IValue body_fn, std::vector<Tensor> carried,
                                    std::vector<Tensor> additional);

}  // namespace control_flow

template <class C, class B>
std::vector<Tensor> while_loop(C cond_fn, B body_fn, std::vector<Tensor> carried_inputs,
                               std::vector<Tensor> additional_inputs) {
  return control_flow::call_while_loop(
      tensor_callable("higher_order::while_loop: cond_fn", std::move(cond_fn)),
      tensor_callable("higher_order::while_loop: body_fn", std::move(body_fn)),
      std::move(carried_inputs), std::move(additional_inputs));
}

template <class C, class B>
std::vector<Tensor> while_loop_stack_output(C cond_fn, B body_fn,
                                            std::vector<Tensor> carried_inputs,
                                            std::vector<Tensor> additional_inputs) {
  constexpr const char* kName = "higher_order::while_loop_stack_output";
  return control_flow::tensors_of(
      kName, "results",
      while_loop_stack_output_op()(
          {tensor_callable(str_cat(kName, ": cond_fn"), std::move(cond_fn)),
           tensor_callable(str_cat(kName, ": body_fn"), std::move(body_fn)),
           std::move(carried_inputs), std::move(additional_inputs)}));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_WHILE_LOOP_H_
