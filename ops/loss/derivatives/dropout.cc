// Derivatives of dropout with a mask.

#include "switchboard/ops/loss/dropout.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"

namespace sb {
namespace {

// The kernel below is composed of operators that have derivatives, and gives the input itself where
// that is empty: what it calls is recorded, and the operator is not.
std::tuple<Tensor, Tensor> record_parts(DispatchKeySet keys, const Tensor& input, double p,
                                        std::optional<bool> train) {
  return native_dropout.redispatch(internal::keys_below_recording(keys), input, p, train);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl(native_dropout, DispatchKey::Autograd, record_parts);
  derive(m, native_dropout_backward,
         SB_GRAD(grad_output, (grad, grad_output, mask, scale),
                 (void(grad_output), native_dropout_backward(grad, mask, scale))),
         SB_GRAD(mask, (grad, grad_output, scale), mul_Scalar(mul(grad, grad_output), scale)));
}

}  // namespace sb
