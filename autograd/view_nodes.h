// Nodes of views: the one that a view gets after a write to its base, and the one that a base gets
// after a write to a view of it.

#ifndef SWITCHBOARD_AUTOGRAD_VIEW_NODES_H_
#define SWITCHBOARD_AUTOGRAD_VIEW_NODES_H_

#include <optional>
#include <string>

#include "switchboard/autograd/node.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/symbols/symbolic_shape.h"

namespace sb::internal {

// Sizes, strides and offset of a tensor that is not kept.
struct Geometry {
  SymDimVector sizes;
  SymDimVector strides;
  SymInt offset = 0;

  Geometry() = default;
  explicit Geometry(const Tensor& tensor)
      : sizes(tensor.sym_sizes().begin(), tensor.sym_sizes().end()),
        strides(tensor.sym_strides().begin(), tensor.sym_strides().end()),
        offset(tensor.sym_storage_offset()) {}
};

// Whether the view, in the memory of the base, has places there that the base has not: at the sizes
// at hand, on which nothing relies then. None where only data tell them.
std::optional<bool> reaches_beyond(const Geometry& base, const Geometry& view);

// The gradient of `as_strided(x, view)`, where x has the geometry `base`. Elements that the view
// has several times add up; where x itself has elements that share memory, each gets an equal part.
Tensor as_strided_gradient(const Tensor& grad, const Geometry& base, const Geometry& view);

// Backward of a view that is seen as as_strided of its base.
class AsStridedNode final : public GradNode {
 public:
  // `must_be_inside`: the view is an error where it has memory that the base has not.
  AsStridedNode(const Tensor& base, const Tensor& view, bool must_be_inside = false);
  std::string name() const override { return "aten::as_strided backward"; }
  TensorVector apply(TensorVector grads) override;

 private:
  Geometry base_;
  Geometry view_;
  bool must_be_inside_;
};

// Backward of a base after an operator wrote to a view of it: what the view's elements were before
// gets its gradient through `node`, that operator's own, and the other elements theirs as it comes.
// As `torch::autograd::CopySlices`.
class CopySlicesNode final : public GradNode {
 public:
  // `self_edge` is the edge of `node` for what the view was before.
  CopySlicesNode(const Tensor& base, const Tensor& view, ViewReplay replay, NodePtr node,
                 size_t self_edge);
  std::string name() const override;
  TensorVector apply(TensorVector grads) override;
  void release_saved() override;

 protected:
  void release_resources() override;

 private:
  Geometry base_;
  Geometry view_;
  ViewReplay replay_;
  NodePtr node_;
  size_t self_edge_;
  bool released_ = false;  // the mutex guards it
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_VIEW_NODES_H_
