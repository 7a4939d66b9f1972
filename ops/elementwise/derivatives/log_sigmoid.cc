// The derivative of log_sigmoid_forward. As in PyTorch, its buffer requires no gradient.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/fallback.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/activations.h"

namespace sb {
namespace {

using Tag = log_sigmoid_forward_op;

// What derive() registers for the formulas.
template <class... F>
auto recording_kernel(F... /*formulas*/) {
  using Recording = internal::RecordingKernel<Tag, internal::DerivedNode<Tag, F...>>;
  return typename internal::OpTraits<Tag>::template Apply<Recording::template Of>();
}

std::tuple<Tensor, Tensor> record(DispatchKeySet keys, const Tensor& self) {
  const auto kernel = recording_kernel(
      SB_GRAD(self, (grad, self, buffer), log_sigmoid_backward(grad, self, buffer)));
  std::tuple<Tensor, Tensor> results = kernel(keys, self);
  std::get<1>(results).impl()->set_autograd_meta(nullptr);
  return results;
}

const ExplainKernels explain_record(DispatchKey::Autograd, internal::explain_recording);

SB_LIBRARY_IMPL(aten, Autograd, m) { m.impl(log_sigmoid_forward, DispatchKey::Autograd, record); }

}  // namespace
}  // namespace sb
