// A tensor that a node keeps for its backward.

#ifndef SWITCHBOARD_AUTOGRAD_SAVED_TENSOR_H_
#define SWITCHBOARD_AUTOGRAD_SAVED_TENSOR_H_

#include <cstdint>

#include "switchboard/autograd/node.h"
#include "switchboard/core/tensor.h"

namespace sb {

// As `torch::autograd::SavedVariable`. It remembers how often the tensor had been written to, and
// unpack() refuses one that was written to since.
class SavedTensor {
 public:
  // Nothing saved; unpack() gives an undefined tensor.
  SavedTensor() = default;
  // An input of the operator whose node saves it.
  explicit SavedTensor(const Tensor& input) { save_input(input); }

  void save_input(const Tensor& input) {
    tensor_ = input;
    version_ = input.version();
    const bool counted = input.key_set().has(DispatchKey::ADInplaceOrView);
    state_ = counted ? State::Input : State::Inference;
  }
  // An output of `node`, after set_history() or rebase_history(). The tensor is not kept itself, as
  // it keeps the node.
  void save_output(const Tensor& output, const GradNode& node);

  // The tensor, with the place in the graph that it had when it was saved. `owner` is the node that
  // saved it. Throws RuntimeError if the tensor was written to since, or the node's memory was
  // freed, and for an inference tensor: nobody counts what is written to it.
  Tensor unpack(GradNode& owner) const;
  // Frees the tensor: unpack() throws from now on. The owner's mutex is held.
  void release() {
    tensor_ = Tensor();
    if (state_ != State::Nothing) state_ = State::Released;
  }

 private:
  enum class State : uint8_t { Nothing, Input, Output, Released, Inference };

  [[noreturn, gnu::cold]] void throw_modified(const GradNode& owner) const;
  [[noreturn, gnu::cold]] void throw_not_there(const GradNode& owner) const;

  Tensor tensor_;
  WeakIntrusivePtr<GradNode> maker_;  // of an output that `owner` did not make: it is a view's
  uint32_t version_ = 0;
  uint32_t output_ = 0;
  bool owner_made_it_ = false;
  State state_ = State::Nothing;
};

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_SAVED_TENSOR_H_
