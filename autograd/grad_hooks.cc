#include "switchboard/dispatch/modes/grad_hooks.h"

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/node.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"

namespace sb::internal {
namespace {

// Passes a gradient on as it is.
class SameGradientNode final : public GradNode {
 public:
  std::string name() const override { return "a write that was not recorded"; }
  TensorVector apply(TensorVector grads) override { return grads; }
};

// Stands, inside of a functionalised program, for what made its input.
class OutsideNode final : public GradNode {
 public:
  std::string name() const override { return "an input that was computed outside"; }
  TensorVector apply(TensorVector) override {
    SB_THROW(NotImplementedError,
             "backward: inside of a functionalised program a gradient reaches an input that was "
             "computed outside of it, and does not go on; make the input a leaf, or run backward "
             "outside");
  }
};

void pass_gradient(const Tensor& result, const Tensor& old) {
  const NodePtr node = make_intrusive<SameGradientNode>();
  node->add_edge(gradient_edge(old));
  set_history(result, node);
}

void mirror(const Tensor& plain, const Tensor& functional) {
  if (!requires_grad(plain)) return;
  if (is_leaf(plain))
    set_requires_grad(functional);
  else
    set_history(functional, make_intrusive<OutsideNode>());
}

constexpr GradHooks kHooks{
    .is_grad_enabled = is_grad_enabled,
    .set_grad_enabled = [](bool enabled) { grad_mode_enabled = enabled; },
    .requires_grad = [](const Tensor& t) { return t.defined() && requires_grad(t); },
    .set_requires_grad = [](const Tensor& t) { set_requires_grad(t); },
    .is_leaf = is_leaf,
    .base_of = base_of,
    .grad_of = grad_of,
    .set_grad = set_grad,
    .pass_gradient = pass_gradient,
    .mirror = mirror,
};

[[maybe_unused]] const bool registered = (grad_hooks = &kHooks, true);

}  // namespace
}  // namespace sb::internal
