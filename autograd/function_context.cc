#include "switchboard/autograd/function_context.h"

#include <algorithm>

#include "switchboard/autograd/function_node.h"
#include "switchboard/core/error.h"

namespace sb {

void FunctionContext::check_open(std::string_view what) const {
  SB_CHECK(open_, node_->name(), ": ", what,
           " was called after forward had returned, when the context no longer changes");
}

void FunctionContext::save_for_backward(std::vector<Tensor> tensors) {
  check_open("save_for_backward");
  to_save_ = std::move(tensors);
}

void FunctionContext::set(std::string_view name, IValue value) {
  check_open("set");
  for (auto& [known, old] : attributes_) {
    if (known != name) continue;
    old = std::move(value);
    return;
  }
  attributes_.emplace_back(name, std::move(value));
}

void FunctionContext::mark_dirty(std::vector<Tensor> inputs) {
  check_open("mark_dirty");
  dirty_ = std::move(inputs);
}

void FunctionContext::mark_non_differentiable(std::vector<Tensor> outputs) {
  check_open("mark_non_differentiable");
  non_differentiable_ = std::move(outputs);
}

void FunctionContext::set_materialize_grads(bool value) {
  check_open("set_materialize_grads");
  materialize_grads_ = value;
}

const internal::TensorPlace& FunctionContext::input_at(size_t input) const {
  SB_CHECK_INDEX(input < inputs_.size(), node_->name(), ": needs_input_grad: no input ", input,
                 ", there are ", inputs_.size());
  return inputs_[input];
}

bool FunctionContext::needs_input_grad(size_t input) const {
  const internal::TensorPlace& place = input_at(input);
  const auto first = needs_grad_.begin() + place.first;
  return std::find(first, first + place.count, true) != first + place.count;
}

bool FunctionContext::needs_input_grad(size_t input, size_t element) const {
  const internal::TensorPlace& place = input_at(input);
  SB_CHECK_INDEX(element < place.count, node_->name(), ": needs_input_grad: input ", input,
                 " has no element ", element, ", there are ", place.count);
  return needs_grad_[place.first + element];
}

const IValue& FunctionContext::get(std::string_view name) const {
  for (const auto& [known, value] : attributes_)
    if (known == name) return value;
  SB_THROW(ValueError, node_->name(), ": nothing was set under the name '", name, "'");
}

std::vector<Tensor> FunctionContext::saved_tensors() const {
  SB_CHECK(!open_, node_->name(),
           ": saved_tensors was called before forward had returned, when nothing is saved yet");
  std::vector<Tensor> tensors;
  tensors.reserve(saved_.size());
  for (const SavedTensor& saved : saved_) tensors.push_back(saved.unpack(*node_));
  return tensors;
}

}  // namespace sb
