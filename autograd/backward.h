// Computes gradients of the results of a program.

#ifndef SWITCHBOARD_AUTOGRAD_BACKWARD_H_
#define SWITCHBOARD_AUTOGRAD_BACKWARD_H_

#include <optional>
#include <vector>

#include "switchboard/core/tensor.h"

namespace sb {

struct BackwardOptions {
  // Keeps what the graph saved, so that it can run again. As `retain_graph`; by default what
  // create_graph is.
  std::optional<bool> retain_graph = std::nullopt;
  // Records the backward pass itself, for derivatives of derivatives.
  bool create_graph = false;
  // Accumulates into these only; those that are no leaves retain their gradient from now on. As
  // `inputs`.
  std::vector<Tensor> inputs = {};
};

// Computes the gradients of the leaves that `tensors` were computed from and adds them to
// grad_of(leaf). As `torch.autograd.backward`. `grads` are the gradients of `tensors` themselves,
// each of the tensor's shape; where it is undefined, or `grads` is empty, the tensor must have one
// element, and its gradient is 1. Throws RuntimeError where a tensor does not require a gradient,
// what a node saved was modified or freed, and what operators throw; leaves that were reached
// before keep what was added. Several threads may go backward at once, through the same graph too.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grads = {},
              const BackwardOptions& options = {});
inline void backward(const Tensor& tensor, const BackwardOptions& options = {}) {
  backward(std::vector<Tensor>{tensor}, {}, options);
}

struct GradOptions {
  std::optional<bool> retain_graph = std::nullopt;
  bool create_graph = false;
  // Gives an undefined gradient for an input that `outputs` do not depend on, instead of an error.
  bool allow_unused = false;
};

// The gradients of `inputs`, which need not be leaves, as they are before hooks on these see them;
// nothing is accumulated. As `torch.autograd.grad`.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {},
                         const GradOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_BACKWARD_H_
