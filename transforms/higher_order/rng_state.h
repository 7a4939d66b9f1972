// Operators that draw random numbers, from a state that is known.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_RNG_STATE_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_RNG_STATE_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/transforms/higher_order/composed_hop.h"

namespace sb {

// `higher_order::run_and_save_rng_state(op, args)` and
// `higher_order::run_with_rng_state(rng_state, op, args)`: an operator's name and a list of what it
// takes; the state is a tensor of bytes.
HigherOrderOperator& run_and_save_rng_state_op();
HigherOrderOperator& run_with_rng_state_op();

// The state of the CPU's own generator before the operator, "aten::bernoulli", and its results,
// which are tensors. As `run_and_save_rng_state`; NotImplementedError for tensors of another
// device, RuntimeError, in the next one too, for an operator that writes or gives views: no graph
// would know.
std::pair<Tensor, std::vector<Tensor>> run_and_save_rng_state(const std::string& op,
                                                              std::vector<IValue> args);
// The results of the operator from that state on; the generator is afterwards as it was.
std::vector<Tensor> run_with_rng_state(const Tensor& rng_state, const std::string& op,
                                       std::vector<IValue> args);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_RNG_STATE_H_
