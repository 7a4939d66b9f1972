#include "switchboard/dispatch/modes/grad_hooks.h"

#include <string>
#include <utility>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/inplace_derivatives.h"
#include "switchboard/autograd/node.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"

namespace sb::internal {
namespace {

// No gradient passes.
class StopNode final : public GradNode {
 public:
  explicit StopNode(std::string text) : text_(std::move(text)) {}
  std::string name() const override { return "the end of a layer"; }
  TensorVector apply(TensorVector) override { SB_THROW(NotImplementedError, text_); }

 private:
  std::string text_;
};

void stop_gradient(const Tensor& tensor, std::string text) {
  set_history(tensor, make_intrusive<StopNode>(std::move(text)));
}

constexpr GradHooks kHooks{
    .is_grad_enabled = is_grad_enabled,
    .set_grad_enabled = [](bool enabled) { grad_mode_enabled = enabled; },
    .requires_grad = [](const Tensor& t) { return t.defined() && requires_grad(t); },
    .set_requires_grad = [](const Tensor& t) { set_requires_grad(t); },
    .is_leaf = is_leaf,
    .is_saved =
        [](const Tensor& t) {
          const GradMeta* const meta = find_grad_meta(t);
          return meta && meta->is_saved;
        },
    .made_by =
        [](const Tensor& t) {
          const NodePtr node = grad_fn(t);
          return node ? node->name() : std::string();
        },
    .base_of = base_of,
    .grad_of = grad_of,
    .set_grad = set_grad,
    .stop_gradient = stop_gradient,
    .has_own_derivative = has_own_derivative,
};

[[maybe_unused]] const bool registered = (grad_hooks = &kHooks, true);

}  // namespace
}  // namespace sb::internal
