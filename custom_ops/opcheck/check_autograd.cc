#include <algorithm>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/custom_ops/opcheck/autograd_kernel.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb::internal {
namespace {

// What a run recorded.
struct Recorded {
  std::string first;  // the name of a tensor with a new history: a result, or what is written to
  bool any_differentiable = false;  // some of them could have one
};

Recorded run_recorded(const CheckedCall& call) {
  const Stack given = copy_arguments(call.arguments, call.schema());
  const std::vector<NamedTensor> arguments = Run{&call.schema(), given, {}}.argument_tensors();
  std::vector<NodePtr> before;
  for (const NamedTensor& a : arguments) before.push_back(grad_fn(a.tensor));
  const Run run = call.run_on(given);

  Recorded recorded;
  const auto look_at = [&](const NamedTensor& t, bool is_new) {
    recorded.any_differentiable |= is_differentiable(t.tensor.dtype());
    if (recorded.first.empty() && is_new) recorded.first = t.name;
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_written) look_at(arguments[i], grad_fn(arguments[i].tensor) != before[i]);
  for (const NamedTensor& result : run.result_tensors()) {
    const bool is_argument =
        std::any_of(arguments.begin(), arguments.end(),
                    [&](const NamedTensor& a) { return a.tensor.is_same(result.tensor); });
    if (!is_argument) look_at(result, requires_grad(result.tensor));
  }
  return recorded;
}

// "schema: demo::f(Tensor x) -> Tensor; kernels: CPU (ops/f.cc:31)".
std::string describe(const OperatorHandle& op) {
  return str_cat("schema: ", op.schema().to_string(),
                 "; kernels: ", op.entry().dispatcher().describe_kernels(op.entry()));
}

// What to register for an operator that has no gradient.
std::string_view advice(const CheckedCall& call) {
  return call.schema().is_mutable()
             ? "register a kernel at Autograd, or the gradient of an operator that writes to "
               "nothing; not_differentiable() if it has none; "
             : "derive() it or register_autograd() one, not_differentiable() if it has none; ";
}

}  // namespace

Finding check_autograd(const CheckedCall& call) {
  if (!call.any_requires_grad()) return skipped("no argument requires a gradient");
  const GradModeGuard on(true);
  const AutogradKernel kernel = autograd_kernel(call);
  if (kernel != AutogradKernel::Composite) {
    // Nothing that a backend's kernel calls is recorded here, but what records itself, as a
    // Function does, is.
    const BelowRecordingGuard below;
    const std::string recorded = run_recorded(call).first;
    if (!recorded.empty())
      return failed(call, recorded, " requires a gradient below autograd: a kernel of a backend ",
                    "records it; it belongs at Autograd; ", describe(call.op));
  }
  if (kernel == AutogradKernel::NotDifferentiable) return passed();
  if (kernel == AutogradKernel::None)
    return failed(call,
                  "an argument requires a gradient, and there is no kernel at an autograd key: ",
                  advice(call), describe(call.op));
  const Recorded recorded = run_recorded(call);
  if (!recorded.first.empty() || !recorded.any_differentiable) return passed();
  if (kernel == AutogradKernel::Own)
    return failed(call,
                  "an argument requires a gradient, and no result does: the kernel at Autograd "
                  "records nothing; not_differentiable() says that there is nothing to record; ",
                  describe(call.op));
  // What it is composed of may well be constant: round, say. Or it reads by pointer.
  const Finding constant = check_gradients(call);
  if (constant.outcome != OpCheckResult::Outcome::Failed) return passed();
  return failed(call,
                "it is composed of other operators, and of these none records what an argument "
                "that requires a gradient does to a result; what reads memory itself is no "
                "composite; ",
                describe(call.op));
}

}  // namespace sb::internal
