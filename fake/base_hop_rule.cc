// What an operator that calls one function does in a fake mode: the function runs on fake tensors.

#include "switchboard/fake/call_function.h"
#include "switchboard/transforms/higher_order/base_hop.h"

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
  return true;
}();

}  // namespace
}  // namespace sb::internal
