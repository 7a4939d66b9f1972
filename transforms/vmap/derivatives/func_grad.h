// The gradient of a function, which inside of vmap is one for each example.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_DERIVATIVES_FUNC_GRAD_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_DERIVATIVES_FUNC_GRAD_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// The gradients of f(inputs...), a tensor without dimensions, by the inputs of these numbers. As
// `torch.func.grad`: the inputs need not require gradients, and the results require one where f
// depends on another tensor that does. Zeros for an input on which f does not depend.
//
//   // The gradient of a loss by w, for each of the rows of x alone.
//   vmap([](const Tensor& w, const Tensor& x) { return func_grad(loss, {w, x}); }, {w, x},
//        {.in_dims = {std::nullopt, 0}});
//
// f is as in tensor_callable.h. It may call func_grad() and vmap() itself. Throws RuntimeError
// unless f gives one tensor without dimensions, IndexError for a number that is not an input's, and
// what backward throws.
template <class F>
std::vector<Tensor> func_grad(F f, const std::vector<Tensor>& inputs,
                              const std::vector<size_t>& argnums = {0});

namespace batching {
std::vector<Tensor> call_func_grad(const IValue& f, const std::vector<Tensor>& inputs,
                                   const std::vector<size_t>& argnums);
}  // namespace batching

template <class F>
std::vector<Tensor> func_grad(F f, const std::vector<Tensor>& inputs,
                              const std::vector<size_t>& argnums) {
  return batching::call_func_grad(tensor_callable("func_grad: f", std::move(f)), inputs, argnums);
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_DERIVATIVES_FUNC_GRAD_H_
