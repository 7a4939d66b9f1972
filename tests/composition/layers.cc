#include "switchboard/tests/composition/layers.h"

#include <algorithm>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"

namespace sb::composition {
namespace {

using internal::ArgumentPlan;
using internal::TensorPlan;

int64_t size_of(const ArgumentPlan& plan, size_t memory) {
  return static_cast<int64_t>(plan.memories[memory].elements.size());
}

// Whether the tensor is alone on its memory, and covers it.
bool covers_alone(const ArgumentPlan& plan, size_t tensor) {
  const TensorPlan& t = plan.tensors[tensor];
  return !plan.shares_memory(tensor) && t.is_contiguous() && t.offset == 0 &&
         t.numel() == size_of(plan, t.memory);
}

// The plan's tensor that input i is.
size_t tensor_of(const ArgumentPlan& plan, size_t i) { return *plan.values[i].tensors[0]; }

}  // namespace

Tensors memories_of(const Tensors& inputs, const ArgumentPlan& plan) {
  Tensors memories(plan.memories.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t tensor = tensor_of(plan, i);
    const size_t memory = plan.tensors[tensor].memory;
    if (memories[memory].defined()) continue;
    memories[memory] = covers_alone(plan, tensor)
                           ? inputs[i]
                           : as_strided(inputs[i], {size_of(plan, memory)}, {1}, 0);
  }
  return memories;
}

Tensors inputs_in(const Tensors& memories, const ArgumentPlan& plan) {
  Tensors tensors;
  for (size_t k = 0; k < plan.tensors.size(); ++k) {
    const TensorPlan& t = plan.tensors[k];
    tensors.push_back(covers_alone(plan, k)
                          ? memories[t.memory]
                          : as_strided(memories[t.memory], t.sizes, t.strides, t.offset));
  }
  Tensors inputs;
  for (size_t i = 0; i < plan.values.size(); ++i) inputs.push_back(tensors[tensor_of(plan, i)]);
  return inputs;
}

Copies copy_by_operators(const Tensors& inputs, const ArgumentPlan& plan) {
  Copies copies;
  for (const Tensor& memory : memories_of(inputs, plan)) copies.memories.push_back(clone(memory));
  copies.inputs = inputs_in(copies.memories, plan);
  return copies;
}

RecordedCopies copy_recorded(const Tensors& inputs, const ArgumentPlan& plan) {
  const GradModeGuard on(true);
  RecordedCopies recorded;
  for (const Tensor& memory : memories_of(inputs, plan)) {
    if (!is_differentiable(memory.dtype())) {
      recorded.copies.memories.push_back(clone(memory));
      continue;
    }
    const Tensor leaf = detach(memory);
    set_requires_grad(leaf);
    recorded.leaves.push_back(leaf);
    recorded.copies.memories.push_back(clone(leaf));
  }
  recorded.copies.inputs = inputs_in(recorded.copies.memories, plan);
  return recorded;
}

const std::vector<Layer>& all_layers() {
  static const std::vector<Layer> layers = {
      grad_layer(),  functionalize_layer(), functional_mode_layer(),
      trace_layer(), trace_symbols_layer(), fake_layer(),
      watch_layer(), body_layer(),          custom_layer()};
  return layers;
}

const Layer& find_layer(std::string_view name) {
  std::string names;
  for (const Layer& layer : all_layers()) {
    if (layer.name == name) return layer;
    names += str_cat(names.empty() ? "" : ", ", layer.name);
  }
  SB_THROW(ValueError, "no layer '", name, "'; there are ", names);
}

}  // namespace sb::composition
