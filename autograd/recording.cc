#include "switchboard/autograd/recording.h"

#include <memory>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/stored.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/copy.h"

namespace sb::internal {

std::string backward_name(std::string_view op) { return str_cat(op, " backward"); }

Tensor copy_for_backward(const Tensor& tensor) { return clone(tensor); }

ViewReplay replay_by_calling(const OperatorHandle& op, Stack arguments) {
  arguments[0] = IValue();  // the base need not live for it
  return [op, kept = std::move(arguments)](const Tensor& base) {
    Stack stack = kept;
    stack[0] = base;
    op.call_boxed(&stack);
    return stack.back().to_tensor();
  };
}

ViewOrigin view_origin(bool one_of_several) {
  if (!is_grad_enabled()) return ViewOrigin::WithoutGrad;
  return one_of_several ? ViewOrigin::OneOfSeveral : ViewOrigin::Recorded;
}

}  // namespace sb::internal
