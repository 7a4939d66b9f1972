#include "switchboard/autograd/recording.h"

#include <atomic>
#include <memory>

#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/fallback.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/stored.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {

void check_no_inference(const OperatorName& op, const Tensor& tensor) {
  SB_CHECK(!tensor.impl()->is_inference() || is_inference_mode_enabled(), op.to_string(),
           ": an inference tensor is written to outside of inference mode: ", tensor.describe(),
           "; write to a clone of it");
}

void count_first_write(OperatorEntry* op, const Tensor& tensor) {
  check_no_inference(op->name(), tensor);
  tensor.impl()->bump_first_version(op);
}

void note_derivatives(const SourceLocation& where) {
  static std::atomic<const char*> last{nullptr};  // many come from one file, one after the other
  if (last.exchange(where.file_name(), std::memory_order_relaxed) != where.file_name())
    explain_kernels(DispatchKey::Autograd, explain_recording, where);
}

std::string backward_name(std::string_view op) { return str_cat(op, " backward"); }

void set_histories(const Tensor& t, const NodePtr& node, uint32_t which) {
  if (which & 1)
    set_history(t, node);
  else
    node->add_undefined_input();
}

void set_histories(const std::vector<Tensor>& list, const NodePtr& node, uint32_t which) {
  for (const Tensor& t : list) set_histories(t, node, which);
}

void take_gradients(std::vector<Tensor> grads, TensorVector* out, size_t first, size_t count) {
  SB_CHECK(grads.size() == count, "backward: expected ", count, " gradients, got ", grads.size());
  for (size_t i = 0; i < count; ++i) (*out)[first + i] = std::move(grads[i]);
}

Tensor copy_for_backward(const Tensor& tensor) { return engine::clone(tensor); }

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
  if (!is_grad_enabled() || is_inference_mode_enabled()) return ViewOrigin::WithoutGrad;
  return one_of_several ? ViewOrigin::OneOfSeveral : ViewOrigin::Recorded;
}

}  // namespace sb::internal
