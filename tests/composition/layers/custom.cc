#include <algorithm>
#include <memory>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/composition/layers.h"
#include "switchboard/transforms/functionalization/view_chain.h"

namespace sb::composition {
namespace {

// What composition_layer::program computes at present.
thread_local std::shared_ptr<const TensorFunction> current;

Tensors run_current(TensorList inputs) { return (*current)(Tensors(inputs.begin(), inputs.end())); }

// What stands for an input: a tensor that gradients come to, and where the input lies in it.
struct Leaf {
  Tensor tensor;
  Tensor input;

  explicit Leaf(const Tensor& given) {
    if (!requires_grad(given)) {
      tensor = input = detach(given);
      set_requires_grad(tensor);
    } else if (may_overlap(given) || given.numel() == 0) {
      tensor = input = alias(given);
    } else {
      // Another input may have been computed from it: a copy of it, in a copy of its memory, as
      // as_strided gives a gradient to the tensor that has the memory.
      const size_t bytes = given.storage()->nbytes();
      tensor = clone(
          as_strided(detach(given), {static_cast<int64_t>(bytes / given.itemsize())}, {1}, 0));
      copy_(place_in(tensor, given), given);
      input = place_in(tensor, given);
    }
  }
  // The gradient of the input, of that of the tensor.
  Tensor of_input(const Tensor& gradient) const {
    const bool is_all = !gradient.defined() || tensor.is_same(input);
    return is_all ? gradient : place_in(contiguous(gradient), input);
  }

 private:
  static Tensor place_in(const Tensor& memory, const Tensor& t) {
    return as_strided(memory, t.sizes(), t.strides(), t.storage_offset());
  }
};

// Runs the program again, at the inputs that were saved, and derives that.
std::vector<IValue> derive_current(FunctionContext& ctx, const Tensors& grads) {
  const bool create_graph = is_grad_enabled();
  const GradModeGuard on(true);
  Tensors inputs, tensors, outputs, output_grads;
  std::vector<Leaf> leaves;
  const Tensors saved = ctx.saved_tensors();
  std::vector<bool> is_leaf;
  for (const Tensor& given : saved) {
    // A tensor that comes twice is one tensor for the program: its gradient is that of the first.
    const auto first =
        std::ranges::find_if(saved, [&](const Tensor& t) { return t.is_same(given); });
    const auto index = static_cast<size_t>(first - saved.begin());
    is_leaf.push_back(index == inputs.size() && is_differentiable(given.dtype()));
    if (is_leaf.back()) {
      leaves.emplace_back(given);
      tensors.push_back(leaves.back().tensor);
      inputs.push_back(leaves.back().input);
    } else {
      inputs.push_back(index == inputs.size() ? given : inputs[index]);
    }
  }
  const Tensors results = run_current(inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!requires_grad(results[i]) || !grads[i].defined()) continue;
    outputs.push_back(results[i]);
    output_grads.push_back(grads[i]);
  }
  Tensors found(leaves.size());
  if (!outputs.empty())
    found =
        grad(outputs, tensors, output_grads, {.create_graph = create_graph, .allow_unused = true});
  Tensors all;
  size_t leaf = 0;
  for (const bool has : is_leaf) {
    all.push_back(has ? leaves[leaf].of_input(found[leaf]) : Tensor());
    leaf += has;
  }
  return {IValue(std::move(all))};
}

const OpOverload& program_operator() {
  static const OpOverload op =
      custom_op("composition_layer::program", "(Tensor[] inputs) -> Tensor[]", run_current)
          .register_fake(run_current)
          .register_autograd(derive_current,
                             [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
                               const TensorList list = inputs[0].to_tensor_list();
                               ctx.save_for_backward({list.begin(), list.end()});
                             })
          .keep();
  return op;
}

}  // namespace

Layer custom_layer() {
  program_operator();
  return {.name = "custom",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan&) -> TensorFunction {
            const auto shared = std::make_shared<const TensorFunction>(std::move(f));
            return [shared](const Tensors& inputs) {
              current = shared;
              const Arguments results = program_operator()(inputs);
              const TensorList list = results[0].to_tensor_list();
              return Tensors(list.begin(), list.end());
            };
          },
          .pure_only = true,
          .words = {"custom", "composition_layer"}};
}

}  // namespace sb::composition
