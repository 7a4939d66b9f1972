#include "switchboard/autograd/backward.h"

#include <string_view>
#include <utility>

#include "switchboard/autograd/engine.h"
#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb {

namespace engine = internal::engine;

namespace {

internal::BackwardRun begin(std::string_view who, const std::vector<Tensor>& tensors,
                            const std::vector<Tensor>& grads) {
  SB_CHECK(!tensors.empty(), who, ": expected tensors to begin at, got none");
  SB_CHECK(grads.empty() || grads.size() == tensors.size(), who, ": expected ", tensors.size(),
           " gradients, one for each tensor, got ", grads.size());
  internal::BackwardRun run;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const std::string which = str_cat(who, ": tensor ", i);
    SB_CHECK(tensor.defined(), which, ": expected a tensor, got an undefined one");
    Edge edge = gradient_edge(tensor);
    SB_CHECK(edge, which, ": ", tensor.describe(),
             " does not require a gradient and no operator recorded made it");
    Tensor grad = grads.empty() ? Tensor() : grads[i];
    if (!grad.defined()) {
      SB_CHECK((tensor.sym_numel() == 1).guard_bool(), which,
               ": a gradient can be made up for a tensor of one element only, got ",
               tensor.describe(), "; give its gradient");
      SB_CHECK(!is_complex(tensor.dtype()), which,
               ": a gradient can be made up for real tensors only, got ", tensor.describe(),
               "; give its gradient");
      grad = engine::ones_like(tensor);
    }
    SB_CHECK(internal::same_sizes(grad.sym_sizes(), tensor.sym_sizes()), which,
             ": its gradient: expected the sizes of ", tensor.describe(), ", got ",
             grad.describe());
    SB_CHECK(is_complex(grad.dtype()) == is_complex(tensor.dtype()), which,
             ": its gradient: expected a ", is_complex(tensor.dtype()) ? "complex" : "real",
             " dtype, got ", grad.describe());
    run.roots.push_back(std::move(edge));
    run.grads.push_back(std::move(grad));
  }
  return run;
}

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grads,
              const BackwardOptions& options) {
  internal::BackwardRun run = begin("backward", tensors, grads);
  run.create_graph = options.create_graph;
  run.keep_graph = options.retain_graph.value_or(options.create_graph);
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    const Tensor& input = options.inputs[i];
    SB_CHECK(requires_grad(input), "backward: input ", i,
             ": expected a tensor that requires a gradient, got ", input.describe());
    retain_grad(input);
    run.captures.push_back(gradient_edge(input));
  }
  run.accumulate = !options.inputs.empty();
  internal::run_backward(run);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, const GradOptions& options) {
  SB_CHECK(!inputs.empty(), "grad: expected inputs, got none");
  internal::BackwardRun run = begin("grad", outputs, grad_outputs);
  run.create_graph = options.create_graph;
  run.keep_graph = options.retain_graph.value_or(options.create_graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    SB_CHECK(requires_grad(inputs[i]), "grad: input ", i, ": ", inputs[i].describe(),
             " does not require a gradient");
    run.captures.push_back(gradient_edge(inputs[i]));
  }
  std::vector<Tensor> grads = internal::run_backward(run);
  for (size_t i = 0; i < grads.size(); ++i) {
    SB_CHECK(options.allow_unused || grads[i].defined(), "grad: input ", i, ": ",
             inputs[i].describe(),
             " was not used to compute the outputs; allow_unused gives an undefined gradient");
  }
  return grads;
}

}  // namespace sb
