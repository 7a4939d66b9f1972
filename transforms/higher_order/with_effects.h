// Calls of operators with an effect, as functions of what was done before.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WITH_EFFECTS_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WITH_EFFECTS_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/transforms/higher_order/named_values.h"

namespace sb {

// `higher_order::with_effects(token, op, args, kwargs)`: a tensor, an operator's name, a list of
// what it takes and a list of pairs of a name and a value.
HigherOrderOperator& with_effects_op();

// Calls the operator, "mylib::log" or "higher_order::print". Gives a token, an empty tensor, for
// the call that comes next, and the operator's results, those of lists one by one. As
// `torch.ops.higher_order.with_effects`.
//
// In graphs of PyTorch's the tokens are what keeps such calls in order. A graph here keeps the
// order of every call with an effect, and of these whatever the operator's schema says; tokens are
// taken and given for programs that pass them on. A call is never dead code, and does not come
// about in a function that is only traced. RuntimeError for an operator whose schema aliases: what
// it writes is not among the results.
std::pair<Tensor, std::vector<Tensor>> with_effects(
    const Tensor& token, const std::string& op, std::vector<IValue> args,
    const std::vector<higher_order::NamedValue>& kwargs = {});

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WITH_EFFECTS_H_
