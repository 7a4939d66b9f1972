#include "switchboard/custom_ops/opcheck/autograd_kernel.h"

#include "switchboard/autograd/fallback.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb::internal {

AutogradKernel autograd_kernel(const CheckedCall& call) {
  const OperatorEntry& entry = call.op.entry();
  const DispatchKeySet keys = entry.argument_keys(call.arguments);
  const DispatchKeySet autograd = keys & kAutogradFunctionalities;
  if (autograd.empty()) return AutogradKernel::None;
  Dispatcher& dispatcher = entry.dispatcher();
  const Resolution found = dispatcher.resolve(entry, autograd.highest_key());
  switch (found.rule) {
    case ResolutionRule::MathKernel:
    case ResolutionRule::NestedKernel:
      return AutogradKernel::Composite;
    case ResolutionRule::Kernel:
    case ResolutionRule::AutogradKernel:
      break;
    default:
      return derived_through_keys(call.op, keys).empty() ? AutogradKernel::None
                                                         : AutogradKernel::Composite;
  }
  return dispatcher.inspect([&] { return found.kernel->function.entries.is_fallthrough(); })
             ? AutogradKernel::NotDifferentiable
             : AutogradKernel::Own;
}

}  // namespace sb::internal
