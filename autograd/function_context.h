// The context by which the forward of a Function tells the backward what it needs.

#ifndef SWITCHBOARD_AUTOGRAD_FUNCTION_CONTEXT_H_
#define SWITCHBOARD_AUTOGRAD_FUNCTION_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/autograd/saved_tensor.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

namespace internal {

class FunctionNode;

// Locates the tensors of one argument, or of one result, among the tensors of all of them. A value
// that is neither a tensor nor a list of tensors takes a place, which stays empty.
struct TensorPlace {
  enum class Kind : uint8_t { Tensor, List, Other };
  Kind kind = Kind::Other;
  uint32_t first = 0;
  uint32_t count = 1;
};

}  // namespace internal

// As `torch.autograd.function.FunctionCtx`. forward() (or setup_context) fills it; from then on it
// only changes when a backward pass frees what was saved, and several threads may read it.
//
// Inputs are the arguments of forward() behind the context, or the positional arguments of an
// operator, in their order and from 0 on; those that are no tensors count, too.
class FunctionContext {
 public:
  FunctionContext(const FunctionContext&) = delete;
  FunctionContext& operator=(const FunctionContext&) = delete;

  // Before forward() returns. All of these throw RuntimeError afterwards.

  // Keeps tensors for backward(): inputs, outputs and others; undefined ones are kept as such. What
  // was saved before is replaced. An output that is kept as an attribute instead is never freed.
  void save_for_backward(std::vector<Tensor> tensors);
  // Keeps a value under a name: `ctx.scale = 2` is ctx.set("scale", 2). Of a tensor get() throws
  // RuntimeError once it was written to.
  void set(std::string_view name, IValue value);
  // Says which inputs forward() writes to; it must return them. Each counts as written to once
  // more.
  void mark_dirty(std::vector<Tensor> inputs);
  // Says which outputs have no gradient. Integers need no such mark.
  void mark_non_differentiable(std::vector<Tensor> outputs);
  // With false, backward() sees an undefined gradient for an output that nothing was computed from,
  // instead of zeros.
  void set_materialize_grads(bool value);

  // At any time.

  // Returns whether the input requires a gradient; of a list of tensors, whether one of them does,
  // or the one at `element`. Throws IndexError for an input or element that is not there.
  bool needs_input_grad(size_t input) const;
  bool needs_input_grad(size_t input, size_t element) const;
  // Returns the value that was set under that name. Throws ValueError if there is none,
  // RuntimeError for a tensor that was written to since.
  const IValue& get(std::string_view name) const;

  // In backward(): what was saved, with its place in the graph, so that backward can be derived
  // again. Throws RuntimeError where one of the tensors was written to since, where an earlier
  // backward pass freed them, and in forward().
  std::vector<Tensor> saved_tensors() const;

 private:
  friend class internal::FunctionNode;

  explicit FunctionContext(internal::FunctionNode* node) : node_(node) {}

  void check_open(std::string_view what) const;
  const internal::TensorPlace& input_at(size_t input) const;

  internal::FunctionNode* const node_;  // which this is a part of
  bool open_ = true;
  bool materialize_grads_ = true;
  std::vector<internal::TensorPlace> inputs_;
  std::vector<bool> needs_grad_;  // by place
  struct Attribute {
    std::string name;
    IValue value;
    uint32_t version;  // of the tensors, in sum
  };
  std::vector<Attribute> attributes_;
  // Until forward() has returned.
  std::vector<Tensor> to_save_;
  std::vector<Tensor> dirty_;
  std::vector<Tensor> non_differentiable_;
  // From then on. The node's mutex guards it.
  std::vector<SavedTensor> saved_;
};

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_FUNCTION_CONTEXT_H_
