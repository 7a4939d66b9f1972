// Autograd's view of a tensor: whether it requires a gradient, the node that made it, the gradient
// that came to it, the tensor that it is a view of.
//
// The functions take any tensor; an undefined one requires nothing. Reading is safe from several
// threads; changing is not.

#ifndef SWITCHBOARD_AUTOGRAD_VARIABLE_H_
#define SWITCHBOARD_AUTOGRAD_VARIABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "switchboard/autograd/node.h"
#include "switchboard/core/tensor.h"

namespace sb {

// As `Tensor.requires_grad`: true for tensors that set_requires_grad marked, and for tensors that
// were computed from these while recording was on.
bool requires_grad(const Tensor& tensor);
// Marks a leaf. Throws RuntimeError for tensors of a dtype that is neither floating point nor
// complex, for inference tensors outside of inference mode, and for unmarking what an operator
// computed.
void set_requires_grad(const Tensor& tensor, bool value = true);
// As `Tensor.is_leaf`: no node made it.
bool is_leaf(const Tensor& tensor);

// Returns the gradient that backward() accumulated; undefined before. As `Tensor.grad`.
Tensor grad_of(const Tensor& tensor);
// Replaces it. An undefined `grad` takes it away. Throws RuntimeError where shape, dtype or device
// are not the tensor's.
void set_grad(const Tensor& tensor, const Tensor& grad);
// Makes backward() keep the gradient of a tensor that is not a leaf, too. As `Tensor.retain_grad`.
// Throws RuntimeError if the tensor does not require one.
void retain_grad(const Tensor& tensor);

// The node that made the tensor; null for leaves. As `Tensor.grad_fn`. Of a view whose base was
// written to since it was made, the node that makes the view anew from the base.
NodePtr grad_fn(const Tensor& tensor);
// Returns the index of the tensor among the outputs of grad_fn().
uint32_t output_number(const Tensor& tensor);
// Returns the target of a gradient of the tensor: grad_fn(), or the node that accumulates the
// gradient of a leaf. An empty edge where it requires none.
Edge gradient_edge(const Tensor& tensor);

// Sees each gradient of the tensor, and may give another one in its place (undefined: leave it). As
// `Tensor.register_hook`. The function that is returned takes the hook off. Throws RuntimeError if
// the tensor does not require a gradient.
using TensorHook = std::function<Tensor(const Tensor& grad)>;
std::function<void()> register_hook(const Tensor& tensor, TensorHook hook);

// Returns whether gradients of the dtype exist: floating point and complex numbers.
inline bool is_differentiable(DType dtype) { return is_floating_point(dtype) || is_complex(dtype); }

// The tensor that `tensor` is a view of, as autograd saw it made; undefined if of none. As
// `Tensor._base`.
Tensor base_of(const Tensor& tensor);

namespace internal {

class AccumulateGrad;

// The way in which a view was made, which decides what writing to it may do.
enum class ViewOrigin : uint8_t {
  Recorded,        // by one operator that returns one view
  OneOfSeveral,    // by an operator that returns several views: unbind, split, chunk
  WithoutGrad,     // while recording was off
  CustomFunction,  // by a Function
};

// Makes the view anew from its base, where sizes and strides alone do not say how: another dtype, a
// conjugate.
using ViewReplay = std::function<Tensor(const Tensor& base)>;

struct ViewInfo {
  Tensor base;  // no view itself
  ViewReplay replay;
  uint32_t version = 0;  // at which grad_fn is valid
  ViewOrigin origin = ViewOrigin::Recorded;
};

// As `torch::autograd::AutogradMeta`.
class GradMeta final : public AutogradMeta {
 public:
  void mark_copy(const Tensor& copy) const override;

  bool requires_grad = false;
  bool is_saved = false;  // gave a node what it had saved: grad_fn is the one of what was saved
  // as_strided_ gave it other places in memory than those that it had when views of it were made.
  bool has_other_places = false;
  uint32_t output = 0;
  NodePtr grad_fn;
  Tensor grad;
  // Of a tensor that retain_grad() was called for: takes the hook off that keeps its gradient.
  std::function<void()> stop_retaining;
  std::unique_ptr<ViewInfo> view;
  // Of a leaf: hooks on its gradient, which its accumulator runs.
  struct Hook {
    uint64_t id;
    TensorHook call;
  };
  std::vector<Hook> hooks;
  uint64_t last_hook = 0;
  // Of a tensor that detach_ took out of its graph: where it had been. Nodes that saved it before
  // lead there.
  WeakIntrusivePtr<GradNode> detached_from;
  uint32_t detached_output = 0;

  std::mutex mutex;
  WeakIntrusivePtr<GradNode> accumulator;
};

inline GradMeta* find_grad_meta(const TensorImpl* impl) {
  return static_cast<GradMeta*>(impl->autograd_meta().get());
}
inline GradMeta* find_grad_meta(const Tensor& tensor) { return find_grad_meta(tensor.impl()); }
GradMeta& grad_meta(const Tensor& tensor);

bool requires_grad_slow(const GradMeta& meta);
// requires_grad() for the call path.
inline bool needs_grad(const Tensor& tensor) {
  const GradMeta* const meta = find_grad_meta(tensor.impl());
  return meta && requires_grad_slow(*meta);
}

// Says that `node` made `tensor`, a new one. Nothing for tensors that have no gradients.
void set_history(const Tensor& tensor, const NodePtr& node);
// The same for a tensor that the operator of `node` wrote to. `self_edge` is the edge of the node
// that stands for what the tensor was before; node.edges().size() if none does. Where the tensor is
// a view, its base has been written to as well.
void rebase_history(const Tensor& tensor, const NodePtr& node, size_t self_edge);
// Throws RuntimeError where an operator that records must not write to the tensor: leaves that
// require gradients, views of them, one of several views.
void check_may_write(std::string_view op, const Tensor& tensor);

// Notes that `view` is a view of `base`; nothing if it shares no memory with it, or is `base`
// itself.
void note_view(const Tensor& base, const Tensor& view, ViewOrigin origin, ViewReplay replay = {});

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_VARIABLE_H_
