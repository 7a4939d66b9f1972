#include "switchboard/autograd/function_context.h"

#include <algorithm>

#include "switchboard/autograd/function_node.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

// Grows with each write to a tensor of the value.
uint32_t version_of(const IValue& value) {
  uint32_t sum = 0;
  value.for_each_tensor([&](const Tensor& t) { sum += t.defined() ? t.version() : 0; });
  return sum;
}

}  // namespace

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
  const uint32_t version = version_of(value);
  for (Attribute& a : attributes_) {
    if (a.name != name) continue;
    a.value = std::move(value);
    a.version = version;
    return;
  }
  attributes_.push_back({std::string(name), std::move(value), version});
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
  for (const Attribute& a : attributes_) {
    if (a.name != name) continue;
    SB_CHECK(version_of(a.value) == a.version, node_->name(), ": the tensor that was set as '",
             name,
             "' has been modified by an inplace operation; write to a clone, or after backward");
    return a.value;
  }
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
