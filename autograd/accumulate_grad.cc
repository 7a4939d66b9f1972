#include "switchboard/autograd/accumulate_grad.h"

#include <limits>
#include <utility>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/views.h"

namespace sb::internal {
namespace {

// Whether `grad` may become the gradient of `tensor` as it is: nobody else holds it, and its
// elements lie as those of the tensor do, or without gaps where the tensor has some.
bool may_take(const Tensor& tensor, const Tensor& grad) {
  if (grad.use_count() > 1 || !grad.storage() || grad.storage()->use_count() > 1) return false;
  if (grad.is_symbolic() || tensor.is_symbolic()) return false;
  return tensor.impl()->is_non_overlapping_and_dense() ? grad.strides() == tensor.strides()
                                                       : grad.is_contiguous();
}

Tensor copy_laid_out_as(const Tensor& tensor, const Tensor& grad) {
  if (tensor.is_symbolic() || !tensor.impl()->is_non_overlapping_and_dense())
    return clone(grad, MemoryFormat::Contiguous);
  Tensor copy = empty_strided(tensor.sym_sizes(), tensor.sym_strides(), grad.dtype(), std::nullopt,
                              grad.device());
  copy_(copy, grad);
  return copy;
}

}  // namespace

Tensor run_hooks(const Tensor& leaf, Tensor grad) {
  GradMeta& meta = grad_meta(leaf);
  std::vector<GradMeta::Hook> hooks;
  {
    const std::lock_guard<std::mutex> lock(meta.mutex);
    hooks = meta.hooks;
  }
  for (const GradMeta::Hook& hook : hooks)
    if (Tensor other = hook.call(grad); other.defined()) grad = std::move(other);
  return grad;
}

void accumulate(const Tensor& tensor, Tensor grad) {
  GradMeta& meta = grad_meta(tensor);
  const std::lock_guard<std::mutex> lock(meta.mutex);
  if (!meta.grad.defined()) {
    if (is_grad_enabled())
      meta.grad = clone(grad);
    else
      meta.grad = may_take(tensor, grad) ? std::move(grad) : copy_laid_out_as(tensor, grad);
  } else if (is_grad_enabled()) {
    meta.grad = add(meta.grad, grad);
  } else {
    add_(meta.grad, grad);
  }
}

AccumulateGrad::AccumulateGrad(Tensor leaf) : leaf_(std::move(leaf)) {
  set_sequence(std::numeric_limits<uint64_t>::max());  // as soon as it can
  add_input(leaf_);
}

TensorVector AccumulateGrad::apply(TensorVector grads) {
  // A leaf that was detached since, or told to require none, takes none.
  if (grads[0].defined() && requires_grad(leaf_))
    accumulate(leaf_, run_hooks(leaf_, std::move(grads[0])));
  return {};
}

}  // namespace sb::internal
