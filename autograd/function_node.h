// The node of a Function's call, and what makes it: edges from its inputs, a place in the graph for
// its results.

#ifndef SWITCHBOARD_AUTOGRAD_FUNCTION_NODE_H_
#define SWITCHBOARD_AUTOGRAD_FUNCTION_NODE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/autograd/backward_function.h"
#include "switchboard/autograd/function_context.h"
#include "switchboard/autograd/node.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// A result of a Function, as it will be replaced where it must be another tensor.
struct ResultSlot {
  TensorPlace::Kind kind = TensorPlace::Kind::Other;
  absl::Span<Tensor> tensors = {};
};

// The data that all calls of one Function share.
struct FunctionKind {
  std::string name;  // of their nodes
  BackwardFunction backward;
};

// As `torch::autograd::CppNode`. Made before forward runs, and dropped after it where nothing is
// recorded. Used so: take_input() for each input; forward() with context(), while nothing is
// recorded; finish().
class FunctionNode final : public GradNode {
 public:
  explicit FunctionNode(std::shared_ptr<const FunctionKind> kind);

  void take_input(const Tensor& input);
  void take_input(TensorList inputs);
  void take_input(OptionalTensorList inputs);
  // Takes an input: a tensor, a list of tensors, or something else.
  void take_input(const IValue& input);
  void take_other_input();
  // Says that only the first `count` inputs were passed, and the others are defaults: backward may
  // leave out gradients for these.
  void set_num_passed(size_t count) { num_passed_ = count; }

  FunctionContext& context() { return context_; }

  // As `_wrap_outputs`: says that this node made the results, which have no history or lose it. An
  // input that was returned as it was becomes a view of itself, one that was marked dirty has been
  // written to by this node, and what has no gradient is cut off. Throws RuntimeError for marks
  // that do not fit; what forward() did stays done.
  void finish(absl::Span<const ResultSlot> results);

  std::string name() const override { return kind_->name; }
  // Throws RuntimeError where backward() gives too few gradients, or too many, or one for an input
  // that is no tensor.
  TensorVector apply(TensorVector grads) override;
  void release_saved() override;

 private:
  struct Input {
    Tensor tensor;
    std::optional<size_t> edge;  // for a tensor
  };

  void add_place(TensorPlace::Kind kind, size_t count);
  void add_tensor(const Tensor& tensor);
  const Input* find_input(const Tensor& tensor) const;
  bool is_dirty(const Tensor& tensor) const;
  bool has_gradient(const Tensor& result) const;

  void check_dirty(absl::Span<Tensor* const> results) const;
  void place_result(Tensor* result);
  void note_origin_of_views(absl::Span<Tensor* const> results);
  void record_values(absl::Span<const ResultSlot> slots);
  void save(absl::Span<Tensor* const> results);

  void materialize(TensorVector* grads) const;
  TensorVector gradients_of_edges(InputGradients given) const;

  const std::shared_ptr<const FunctionKind> kind_;
  FunctionContext context_;
  const bool grad_enabled_;
  bool recorded_ = false;
  std::optional<size_t> num_passed_;
  std::vector<TensorPlace> results_;
  std::vector<bool> is_tensor_;  // results, by place
  std::vector<Input> given_;     // by place; until finish()
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_FUNCTION_NODE_H_
