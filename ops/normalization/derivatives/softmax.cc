// Derivatives of softmax and its logarithm.

#include "switchboard/ops/normalization/softmax.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/reductions/reductions.h"

namespace sb {
namespace {

// Each sum below is one along `dim`, of size 1.

// Of output * (grad_output - sum(grad_output * output)), by output.
Tensor softmax_output_gradient(const Tensor& grad, const Tensor& grad_output, const Tensor& output,
                               int64_t dim) {
  const Tensor inner = sub(grad_output, sum(mul(grad_output, output), {dim}, true));
  return sub(mul(grad, inner), mul(grad_output, sum(mul(grad, output), {dim}, true)));
}

// Of grad_output - exp(output) * sum(grad_output), by grad_output and by output.
Tensor log_softmax_grad_output_gradient(const Tensor& grad, const Tensor& output, int64_t dim) {
  return sub(grad, sum(mul(grad, exp(output)), {dim}, true));
}
Tensor log_softmax_output_gradient(const Tensor& grad, const Tensor& grad_output,
                                   const Tensor& output, int64_t dim) {
  return neg(mul(mul(grad, exp(output)), sum(grad_output, {dim}, true)));
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _softmax,
         SB_GRAD(self, (grad, result, dim, self_meta),
                 _softmax_backward_data(grad, result, dim, self_meta.dtype)));
  derive(m, _log_softmax,
         SB_GRAD(self, (grad, result, dim, self_meta),
                 _log_softmax_backward_data(grad, result, dim, self_meta.dtype)));
  // The step back from grad_output is linear and symmetric: its own derivative.
  derive(m, _safe_softmax,
         SB_GRAD(self, (grad, result, dim, self_meta),
                 _softmax_backward_data(grad, result, dim, self_meta.dtype)));
  derive(m, _softmax_backward_data,
         SB_GRAD(grad_output, (grad, output, dim, input_dtype),
                 _softmax_backward_data(grad, output, dim, input_dtype)),
         SB_GRAD(output, (grad, grad_output, output, dim),
                 softmax_output_gradient(grad, grad_output, output, dim)));
  derive(m, _log_softmax_backward_data,
         SB_GRAD(grad_output, (grad, output, dim),
                 log_softmax_grad_output_gradient(grad, output, dim)),
         SB_GRAD(output, (grad, grad_output, output, dim),
                 log_softmax_output_gradient(grad, grad_output, output, dim)));
}

}  // namespace sb
