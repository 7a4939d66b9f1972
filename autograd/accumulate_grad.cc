#include "switchboard/autograd/accumulate_grad.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "switchboard/autograd/engine.h"
#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"

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
    return engine::clone(grad, MemoryFormat::Contiguous);
  Tensor copy = engine::empty_strided(tensor.sym_sizes(), tensor.sym_strides(), grad.dtype(),
                                      std::nullopt, grad.device());
  engine::copy_(copy, grad);
  return copy;
}

// Held while something is added to the gradient of a leaf. Not the leaf's own mutex: modes see what
// is called meanwhile, and may ask for the gradient, or go backward themselves.
std::recursive_mutex& adding_to(const GradMeta& leaf) {
  static std::recursive_mutex mutexes[64];
  return mutexes[reinterpret_cast<uintptr_t>(&leaf) / alignof(std::max_align_t) % 64];
}

// Adds `grad` to the gradient that the leaf keeps.
void accumulate(const Tensor& leaf, Tensor grad) {
  SB_CHECK(!grad.key_set().has(DispatchKey::FuncTorchBatched), "backward: the gradient of ",
           leaf.describe(),
           " differs from one example of a vmap to the next, and a leaf has room for one; grad() "
           "gives them all");
  GradMeta& meta = grad_meta(leaf);
  const std::lock_guard<std::recursive_mutex> adding(adding_to(meta));
  const Tensor old = grad_of(leaf);
  if (old.defined() && !is_grad_enabled()) {
    engine::add_(old, grad);
    return;
  }
  Tensor sum;
  if (old.defined())
    sum = engine::add(old, grad);
  else if (is_grad_enabled())
    sum = engine::clone(grad);
  else
    sum = may_take(leaf, grad) ? std::move(grad) : copy_laid_out_as(leaf, grad);
  const std::lock_guard<std::mutex> lock(meta.mutex);
  meta.grad = std::move(sum);
}

}  // namespace

AccumulateGrad::AccumulateGrad(Tensor leaf) : leaf_(std::move(leaf)) {
  set_sequence(std::numeric_limits<uint64_t>::max());  // as soon as it can
  add_input(leaf_);
}

TensorVector AccumulateGrad::apply(TensorVector grads) {
  // A leaf that was detached since, or told to require none, takes none.
  if (grads[0].defined() && requires_grad(leaf_)) accumulate(leaf_, run_hooks(std::move(grads[0])));
  return {};
}

Tensor AccumulateGrad::run_hooks(Tensor grad) const {
  GradMeta& meta = grad_meta(leaf_);
  std::vector<GradMeta::Hook> hooks;
  {
    const std::lock_guard<std::mutex> lock(meta.mutex);
    hooks = meta.hooks;
  }
  for (const GradMeta::Hook& hook : hooks) {
    Tensor other = hook.call(grad);
    check_replacement(*this, grad, other);
    if (other.defined()) grad = std::move(other);
  }
  return grad;
}

}  // namespace sb::internal
