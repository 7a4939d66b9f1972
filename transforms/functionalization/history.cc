#include "switchboard/transforms/functionalization/history.h"

#include <utility>

#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::internal {
namespace {
thread_local bool program_excludes_autograd = false;
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

namespace {

// Whether the tensor is one of a function that is traced, and may have a gradient when its graph
// runs.
bool may_have_gradient(const Tensor& t) {
  return t.defined() && (is_floating_point(t.dtype()) || is_complex(t.dtype())) &&
         !running_function().empty() && get_mode(ModeKey::Proxy);
}

}  // namespace

Tensor with_history_of(const Tensor& old, const Tensor& data) {
  if (!grad_hooks->requires_grad(old) && !may_have_gradient(old))
    return grad_hooks->requires_grad(data) ? detach(data) : data;
  // By calls that a trace records as they are: autograd does not see a write to what is detached.
  const GradScope grad(true);
  Tensor result = clone(old);
  copy_(detach(result), detach(data));
  return result;
}

void mirror_history(const Tensor& plain, const Tensor& functional) {
  if (!grad_hooks->requires_grad(plain)) return;
  if (grad_hooks->is_leaf(plain)) return grad_hooks->set_requires_grad(functional);
  grad_hooks->stop_gradient(
      functional,
      "functionalize: backward, run inside of the program, comes to an input that was computed "
      "outside of it, and does not go on; make the input a leaf, or run backward outside");
}

}  // namespace sb::internal
