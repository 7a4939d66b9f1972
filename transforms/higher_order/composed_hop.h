// Operators that call others in a way of their own, and that a trace keeps as one call.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_COMPOSED_HOP_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_COMPOSED_HOP_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/dispatch/objects/higher_order_operator.h"

namespace sb::higher_order {

struct ComposedHopOptions {
  std::string name;                     // "out_dtype"
  std::vector<std::string> parameters;  // the names of its arguments
  // The results of a call, as other operators give them. Writes to no tensor. Throws what is wrong
  // with the arguments.
  std::vector<IValue> (*compose)(const std::vector<IValue>& arguments);
  // The call is there for its effect on the host, and gives nothing: it keeps its place among calls
  // with effects, and comes about neither on fake tensors nor in functions that are only traced.
  bool is_effect = false;
  // The call gives results, and runs an operator with an effect: it keeps its place among those,
  // and is never dead code.
  bool has_effect = false;
};

// A HigherOrderOperator without functions, with a rule for every layer: on kernels it is what it is
// composed of, which autograd records; a trace records the call itself; functionalised, it is
// called on values; in a fake mode it is composed of fake tensors (fake/base_hop_rule.cc); its
// gradient under a trace or in a fake mode is that of what it is composed of (derivatives/).
//
// For objects that are never destroyed.
class ComposedHop {
 public:
  explicit ComposedHop(ComposedHopOptions options);
  ComposedHop(const ComposedHop&) = delete;
  ComposedHop& operator=(const ComposedHop&) = delete;

  HigherOrderOperator& op() const { return *op_; }
  const ComposedHopOptions& options() const { return options_; }

 private:
  ComposedHopOptions options_;
  HigherOrderOperator* op_;
};

// Gives a rule to each of these operators, those that are made later too.
void for_each_composed_hop(std::function<void(const ComposedHop&)> give_rule);

}  // namespace sb::higher_order

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_COMPOSED_HOP_H_
