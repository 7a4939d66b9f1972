// Operators that call one function, once: parts of a program that a trace keeps together.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_BASE_HOP_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_BASE_HOP_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::higher_order {

// What an operator of this kind is. Its arguments are a function, a list of tensors that this
// takes, the operands, and settings.
struct BaseHopOptions {
  std::string name;                     // "strict_mode"
  std::vector<std::string> parameters;  // the names of its arguments: {"callable", "operands"}
  size_t function;                      // the place of the function among them
  size_t operands;                      // and of the operands
  std::string graph_name;               // of the function in graphs: "strict_graph"
  // Throws what is wrong with the settings. All of these get the arguments of a call.
  void (*check)(const std::vector<IValue>& arguments) = nullptr;
  // Runs `call` as the settings say; every rule of the operator runs in it.
  void (*around)(const std::vector<IValue>& arguments, absl::FunctionRef<void()> call) = nullptr;
  // Makes the settings those of the call that computes the gradient.
  void (*of_gradient)(std::vector<IValue>* arguments) = nullptr;
  // Runs, in place of the function as autograd records it, a call that no mode replaces or records.
  // `below` are the keys of the call below autograd.
  void (*run_recorded)(const class BaseHop& hop, DispatchKeySet below, Stack* stack) = nullptr;
  // Calls with the same settings and functions that compute the same share a subgraph.
  bool shares_graphs = false;
};

// A HigherOrderOperator with a rule for every layer. As `torch._higher_order_ops.base_hop.BaseHOP`:
//
// - on kernels it calls the function, which autograd records as it runs;
// - a trace records the call, with the function as a subgraph;
// - functionalised, it is the operator of a function that mutates nothing: what the function writes
//   to its operands is written after the call;
// - in a fake mode the function runs on fake tensors (fake/base_hop_rule.cc);
// - its gradient under a trace or in a fake mode is the operator, called with the gradient of the
//   function (derivatives/);
// - modes that only watch see the call, and what its function calls.
//
// For objects that are never destroyed: static const BaseHop& hop = *new BaseHop({...}).
class BaseHop {
 public:
  explicit BaseHop(BaseHopOptions options);
  BaseHop(const BaseHop&) = delete;
  BaseHop& operator=(const BaseHop&) = delete;

  HigherOrderOperator& op() const { return *op_; }
  const BaseHopOptions& options() const { return options_; }

  // The arguments of a call, `settings` in order.
  std::vector<IValue> arguments(IValue function, std::vector<Tensor> operands,
                                std::vector<IValue> settings = {}) const;
  std::vector<Tensor> operator()(IValue function, std::vector<Tensor> operands,
                                 std::vector<IValue> settings = {}) const;

 private:
  BaseHopOptions options_;
  HigherOrderOperator* op_;
};

// A call of such an operator. Throws what is wrong with it.
struct BaseHopCall {
  BaseHopCall(const BaseHop& hop, const std::vector<IValue>& stack);

  control_flow::FunctionArgument function;  // as the settings say
  std::vector<Tensor> operands;
};

// Gives a rule to each of these operators, those that are made later too.
void for_each_base_hop(std::function<void(const BaseHop&)> give_rule);

}  // namespace sb::higher_order

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_BASE_HOP_H_
