#include "switchboard/autograd/saved_tensor.h"

#include <algorithm>
#include <mutex>
#include <typeinfo>
#include <utility>

#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {

namespace engine = internal::engine;

namespace {

// The same elements without a place in the graph, counting writes together with `tensor`. A mode
// sees it made, or what backward does to it would be a constant to the mode; and a tensor of a
// class of its own, a functional one, keeps it only so.
Tensor without_history(const Tensor& tensor) {
  if (current_mode() || typeid(*tensor.impl()) != typeid(TensorImpl)) {
    Tensor copy = engine::detach(tensor);
    copy.impl()->share_version_counter(*tensor.impl());
    return copy;
  }
  IntrusivePtr<TensorImpl> copy = tensor.impl()->shallow_copy();
  copy->share_version_counter(*tensor.impl());
  return Tensor(std::move(copy));
}

// An input as `owner` saved it. Since then detach_ may have taken it out of its graph, of which the
// owner's edges still tell; PyTorch's second gradients lose it.
Tensor as_saved(const Tensor& input, const GradNode& owner) {
  internal::GradMeta* const meta = internal::find_grad_meta(input);
  if (!meta) return input;
  Edge place;
  {
    const std::lock_guard<std::mutex> lock(meta->mutex);
    place = {meta->detached_from.lock(), meta->detached_output};
  }
  const absl::Span<const Edge> edges = owner.edges();
  if (!place || std::find(edges.begin(), edges.end(), place) == edges.end()) return input;
  Tensor saved = without_history(input);
  internal::GradMeta& saved_meta = internal::grad_meta(saved);
  saved_meta.is_saved = true;
  saved_meta.grad_fn = std::move(place.node);
  saved_meta.output = place.input;
  return saved;
}

}  // namespace

void SavedTensor::save_output(const Tensor& output, const GradNode& node) {
  const NodePtr maker = grad_fn(output);
  tensor_ = without_history(output);
  version_ = output.version();
  output_ = output_number(output);
  owner_made_it_ = maker.get() == &node;
  if (maker && !owner_made_it_) maker_ = WeakIntrusivePtr<GradNode>(maker);
  state_ = State::Output;
}

Tensor SavedTensor::unpack(GradNode& owner) const {
  SavedTensor now;  // another thread may release what is saved
  {
    const std::lock_guard<std::mutex> lock(owner.mutex());
    now = *this;
  }
  if (now.state_ == State::Nothing) return {};
  if (now.state_ >= State::Released) now.throw_not_there(owner);
  const Tensor& tensor = now.tensor_;
  if (!tensor.defined()) return tensor;
  if (tensor.version() != version_) now.throw_modified(owner);
  if (now.state_ == State::Input) return is_grad_enabled() ? as_saved(tensor, owner) : tensor;
  Tensor output = without_history(tensor);
  NodePtr maker = owner_made_it_ ? NodePtr::share(&owner) : maker_.lock();
  const bool is_gone = !maker && maker_.address();
  if (is_gone && is_grad_enabled()) {
    // A view that was written to in place: the owner made what is in it.
    SB_CHECK_NOT_IMPLEMENTED(owner.num_inputs() == 1, owner.name(),
                             ": a second gradient by a result that was written to a view, which is "
                             "gone, and by others: keep the view");
    maker = NodePtr::share(&owner);
  }
  if (maker) {
    internal::GradMeta& meta = internal::grad_meta(output);
    meta.is_saved = true;
    meta.grad_fn = maker;
    meta.output = is_gone ? 0 : output_;
  }
  return output;
}

void SavedTensor::throw_not_there(const GradNode& owner) const {
  SB_CHECK(state_ != State::Released, owner.name(),
           ": what was saved for it has been freed; call the first backward with retain_graph");
  SB_THROW(
      RuntimeError, owner.name(), ": it saved an inference tensor, ", tensor_.describe(),
      ", whose writes nobody counts; give the operator a clone made outside of inference mode");
}

void SavedTensor::throw_modified(const GradNode& owner) const {
  const auto* const writer = static_cast<const OperatorEntry*>(tensor_.impl()->last_writer());
  std::string what = state_ == State::Input ? "an input" : "a result";
  if (const NodePtr maker = state_ == State::Input ? grad_fn(tensor_) : nullptr)
    what += str_cat(", output ", output_number(tensor_), " of ", maker->name(), ",");
  SB_THROW(
      RuntimeError, owner.name(), ": ", what,
      " that it saved has been modified by an inplace operation",
      writer ? str_cat(", ", writer->name().to_string(), " (", to_string(writer->defined_at()), ")")
             : "",
      ": ", tensor_.describe(), " is at version ", tensor_.version(), "; expected version ",
      version_, "; write to a clone, or after backward");
}

}  // namespace sb
