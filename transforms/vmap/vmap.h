// A function of one example, run on all of them at once.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_VMAP_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_VMAP_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/vmap/randomness.h"

namespace sb {

// As the arguments of `torch.vmap`.
struct VmapOptions {
  // The dimension of each input along which the examples lie; negative ones count from the end.
  // nullopt: the input is the same for all. Nothing said: 0 for each.
  std::vector<std::optional<int64_t>> in_dims = {};
  // Where they lie in each result. nullopt: the result is the same for all, and has no such
  // dimension. One number is for all results. Nothing said: 0.
  std::vector<std::optional<int64_t>> out_dims = {};
  Randomness randomness = Randomness::Error;
  // How many examples run at once; nullopt: all.
  std::optional<int64_t> chunk_size = std::nullopt;
};

// f, which takes the tensors of one example and gives a tensor or a list (tensor_callable.h), run
// once for all examples: what it gives for each, stacked. As `torch.vmap`. The same as a loop with
// select(input, in_dim, i), but that it is one call of each operator (vmap/README.md says which
// need one for each example). Writes to a batched input reach the input.
//
//   // The inner products of the rows of x and y.
//   Tensor z = vmap([](const Tensor& x, const Tensor& y) { return dot(x, y); }, {x, y})[0];
//
// Nests, in any order with gradients, traces, fake modes and functionalisation around it. Inside,
// tensors have no data, and none requires a gradient: gradients are taken of what vmap gives.
//
// Throws ValueError for options that do not fit the inputs, for inputs that disagree in the number
// of examples, for a batched result whose out_dim is nullopt; IndexError for out_dims out of range;
// RuntimeError, naming the operator, where what differs from one example to the next has no tensor
// to be in (batched_call.h); NotImplementedError for a higher-order operator without a rule.
template <class F>
std::vector<Tensor> vmap(F f, const std::vector<Tensor>& inputs, const VmapOptions& options = {});

namespace batching {
std::vector<Tensor> call_vmap(const IValue& f, const std::vector<Tensor>& inputs,
                              const VmapOptions& options);
}  // namespace batching

template <class F>
std::vector<Tensor> vmap(F f, const std::vector<Tensor>& inputs, const VmapOptions& options) {
  return batching::call_vmap(tensor_callable("vmap: f", std::move(f)), inputs, options);
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_VMAP_H_
