#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/schema_check_mode.h"
#include "switchboard/ops/copying/copy.h"

namespace sb::internal {

Finding check_schema(const CheckedCall& call) {
  SchemaCheckOptions options;
  options.to_cpu = [](const Tensor& t) { return to_device(t, DeviceType::CPU, t.dtype()); };
  SchemaCheckMode mode(std::move(options));
  Stack stack = copy_arguments(call.arguments, call.schema());
  const bool is_composite = call.op.entry().dispatcher().inspect(
      [&] { return !call.op.entry().kernels_at(DispatchKey::CompositeImplicitAutograd).empty(); });
  try {
    if (is_composite) {
      // It is what it is made of, each part of which is checked.
      const ModeGuard guard(&mode);
      call.op.call_boxed(&stack);
    } else {
      // By hand, not as a mode of the thread: what kernels at autograd keys do counts, too.
      mode.call(call.op, {}, &stack);
    }
  } catch (const RuntimeError& error) {
    return {OpCheckResult::Outcome::Failed, error.what()};
  }
  return passed();
}

}  // namespace sb::internal
