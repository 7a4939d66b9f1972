// Runs a graph backward.

#ifndef SWITCHBOARD_AUTOGRAD_ENGINE_H_
#define SWITCHBOARD_AUTOGRAD_ENGINE_H_

#include <vector>

#include "switchboard/autograd/node.h"

namespace sb::internal {

// One backward pass.
struct BackwardRun {
  std::vector<Edge> roots;    // where it begins
  std::vector<Tensor> grads;  // as many, each defined
  // For each root whether its gradient comes, where only the data tell (note_may_be_absent);
  // undefined ones elsewhere. Empty: all come.
  std::vector<Tensor> grads_came;
  std::vector<Edge> captures;  // whose gradients are wanted; empty: accumulate those of the leaves
  bool keep_graph = false;     // what nodes saved stays
  bool create_graph = false;   // backward is recorded itself
  bool accumulate = false;     // with captures: their nodes run, and nothing is given
  bool cut = false;            // nothing beyond the captures is looked at: others are not there
  // Gets the same for each capture.
  std::vector<Tensor>* came = nullptr;
};

// Gives the gradients at the captures, before hooks of their nodes see them; undefined where none
// came. Nodes run on the calling thread, those made last first, each once all gradients have
// reached it. Throws what nodes throw.
std::vector<Tensor> run_backward(const BackwardRun& run);

// For a node that runs: says that nothing comes where `grad`, one of the gradients that it will
// give, stands, unless the data say that one `came` (a bool tensor without dimensions). `grad` is
// zeros then, and what is computed of it, too: not NaN, as zeros times an infinite derivative are.
void note_may_be_absent(const Tensor& grad, const Tensor& came);

bool same_sizes(SymIntArrayRef a, SymIntArrayRef b);

// `grad` as the gradient of a tensor of that description: summed over what was broadcast, and of
// its dtype. Throws RuntimeError naming `who` where it does not fit. As the engine's
// `validate_outputs`.
Tensor fit_gradient(const Tensor& grad, const InputMetadata& meta, const GradNode& who,
                    size_t output);

// Throws RuntimeError naming `who` where a hook put a gradient of other sizes, dtype or device in
// the place of the one that it was given. As `check_single_result`.
void check_replacement(const GradNode& who, const Tensor& before, const Tensor& after);

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_ENGINE_H_
