#include "switchboard/transforms/functionalization/history.h"

#include <utility>

#include "switchboard/autograd/node.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {
namespace {

thread_local bool program_excludes_autograd = false;

// Passes a gradient on as it is.
class SameGradientNode final : public GradNode {
 public:
  std::string name() const override { return "functionalize: an unrecorded write"; }
  TensorVector apply(TensorVector grads) override { return grads; }
};

// Stands, inside of a program, for what made its input.
class OutsideNode final : public GradNode {
 public:
  std::string name() const override { return "functionalize: an input that was computed"; }
  TensorVector apply(TensorVector) override {
    SB_THROW(NotImplementedError,
             "backward: inside of a functionalised program a gradient reaches an input that was "
             "computed outside of it, and does not go on; make the input a leaf, or run backward "
             "outside");
  }
};

}  // namespace

bool records_values() {
  return !program_excludes_autograd && dispatch_tls.included.has(DispatchKey::ADInplaceOrView);
}

RecordsOfProgram::RecordsOfProgram()
    : was_excluded_(
          std::exchange(program_excludes_autograd,
                        program_excludes_autograd ||
                            dispatch_tls.excluded().has(DispatchKey::AutogradFunctionality))) {}
RecordsOfProgram::~RecordsOfProgram() { program_excludes_autograd = was_excluded_; }

Tensor with_history_of(const Tensor& old, const Tensor& data) {
  if (!old.defined() || !needs_grad(old)) return needs_grad(data) ? detach(data) : data;
  const NodePtr node = make_intrusive<SameGradientNode>();
  node->add_edge(gradient_edge(old));
  Tensor result = detach(data);
  set_history(result, node);
  return result;
}

void mirror_history(const Tensor& plain, const Tensor& functional) {
  if (!needs_grad(plain)) return;
  if (is_leaf(plain))
    set_requires_grad(functional);
  else
    set_history(functional, make_intrusive<OutsideNode>());
}

void mirror_view(const Tensor& plain, const Tensor& functional, const Tensor& functional_base) {
  const ViewInfo& view = *find_grad_meta(plain)->view;
  note_view(functional_base, functional, view.origin, view.replay);
}

}  // namespace sb::internal
