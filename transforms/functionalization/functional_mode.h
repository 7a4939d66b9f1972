// Functionalisation as a mode.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_MODE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_MODE_H_

#include <memory>
#include <typeindex>
#include <vector>

#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {

// As `FunctionalTensorMode`, which takes the Functional slot: while it is active on a thread,
// operators make functional tensors, and what arrives at the modes below (a trace, fakes) and at
// kernels mutates nothing. Modes of users, above it, see the program as it is written. Plain
// tensors may be mixed in. Calls on its tensors reach the mode whether it is active or not.
//
//   FunctionalMode mode;
//   std::vector<Tensor> results = mode.functionalize(f)({x, y});
//
// The mode differs from functionalize() in where it stands: below the layered keys, among the
// modes.
//
// A handle: functional tensors keep what they need of the mode alive. For one thread at a time.
class FunctionalMode {
 public:
  FunctionalMode();

  // As functionalize(f) of functionalize.h, by this mode. Inside of another functionalised program
  // it is f.
  TensorFunction functionalize(TensorFunction f) const;

  // The parts of that. The functional tensor of a plain one, always the same; and the end, without
  // the mode active: writes to the plain tensors that were wrapped, or used, what their functional
  // ones hold, and gives plain results. See FunctionalInputs::finish.
  Tensor to_functional(const Tensor& plain) const;
  std::vector<Tensor> finish(const std::vector<Tensor>& results) const;

  // The mode itself, to activate: ModeGuard guard(functional.mode()).
  DispatchMode* mode() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

namespace internal {
// The parts of functionalize_routes() that are the mode's.
std::type_index functional_mode_type();
std::unique_ptr<FunctionalizeApi> functional_mode_context(DispatchMode& mode);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_MODE_H_
