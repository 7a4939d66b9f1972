// The derivative of weight_norm. Its norms have none, as in PyTorch.

#include "switchboard/ops/normalization/weight_norm.h"

#include <array>
#include <utility>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/copying/copy.h"

namespace sb {
namespace {

std::array<Tensor, 2> weight_norm_gradients(const Tensor& grad, const Tensor& v, const Tensor& g,
                                            int64_t dim, const Tensor& norms) {
  if (!grad.defined()) return {};
  // A gradient that is derived again must see that the norms are v's.
  const Tensor known =
      is_grad_enabled() ? to_dtype(norm_except_dim(v, 2, dim), norms.dtype()) : norms;
  auto [by_v, by_g] = _weight_norm_interface_backward(grad, v, g, known, dim);
  return {std::move(by_v), std::move(by_g)};
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _weight_norm_interface,
         SB_GRAD((v, g), (grad0, v, g, dim, result1),
                 weight_norm_gradients(grad0, v, g, dim, result1)));
}

}  // namespace
}  // namespace sb
