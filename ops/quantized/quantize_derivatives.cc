// The derivatives of quantize.h: none, as in PyTorch. dequantize of a plain tensor is a conversion,
// and has that one's.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/quantized/quantize.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  not_differentiable(m, quantize_per_tensor);
  not_differentiable(m, quantize_per_tensor_tensor_qparams);
  not_differentiable(m, quantize_per_tensor_tensors);
  not_differentiable(m, int_repr);
  not_differentiable(m, _make_per_tensor_quantized_tensor);
}

}  // namespace
}  // namespace sb
