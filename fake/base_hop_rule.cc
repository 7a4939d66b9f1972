// What operators that call one function, or others, do in a fake mode: these run on fake tensors.

#include "switchboard/fake/call_function.h"
#include "switchboard/transforms/higher_order/base_hop.h"
#include "switchboard/transforms/higher_order/composed_hop.h"

namespace sb::internal {
namespace {

[[maybe_unused]] const bool base_hops_registered = [] {
  higher_order::for_each_base_hop([](const higher_order::BaseHop& hop) {
    hop.op()
        .impl_mode<FakeMode>([&hop](FakeMode& mode, DispatchKeySet, Stack* stack) {
          // Holds the call's tensors to the end, and these the mode.
          const higher_order::BaseHopCall call(hop, *stack);
          *stack = control_flow::values_of(call_in(mode, call.function, call.operands));
        })
        .release();
  });
  higher_order::for_each_composed_hop([](const higher_order::ComposedHop& hop) {
    hop.op()
        .impl_mode<FakeMode>([&hop](FakeMode& mode, DispatchKeySet keys, Stack* stack) {
          // Holds the call's tensors to the end, and these the mode.
          const Stack arguments =
              control_flow::arguments_of(hop.op().name(), *stack, hop.options().parameters.size());
          if (hop.options().is_effect) return stack->clear();
          const ModeGuard active(&mode);
          (*hop.op().find_kernel(DispatchKey::CompositeExplicitAutograd))(keys, stack);
        })
        .release();
  });
  return true;
}();

}  // namespace
}  // namespace sb::internal
