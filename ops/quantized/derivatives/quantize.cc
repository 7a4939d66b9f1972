// The derivatives of quantize.h: none, as in PyTorch. dequantize of a plain tensor is a conversion,
// and has that one's. fake_quantize passes gradients where it did not cut.

#include "switchboard/ops/quantized/quantize.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/quantized/fake_quantize.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  not_differentiable(m, quantize_per_tensor);
  not_differentiable(m, quantize_per_tensor_tensor_qparams);
  not_differentiable(m, quantize_per_tensor_tensors);
  not_differentiable(m, int_repr);
  not_differentiable(m, _make_per_tensor_quantized_tensor);
  // Rounding counts as no change.
  derive(m, fake_quantize_per_tensor_affine_cachemask,
         SB_GRAD(self, (grad0, mask), mul(grad0, mask)));
  derive(m, fake_quantize_per_channel_affine_cachemask,
         SB_GRAD(self, (grad0, mask), mul(grad0, mask)));
}

}  // namespace
}  // namespace sb
