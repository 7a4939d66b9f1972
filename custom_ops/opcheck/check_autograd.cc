#include <algorithm>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb::internal {
namespace {

// What the operator does at the autograd key of a backend.
enum class AutogradKernel { None, Own, Composite, NotDifferentiable };

bool is_composite(ResolutionRule rule) {
  return rule == ResolutionRule::MathKernel || rule == ResolutionRule::NestedKernel;
}

AutogradKernel find_autograd_kernel(const OperatorHandle& op, DispatchKeySet keys) {
  const DispatchKeySet autograd = keys & kAutogradFunctionalities;
  if (autograd.empty()) return AutogradKernel::None;
  Dispatcher& dispatcher = op.entry().dispatcher();
  const Resolution found = dispatcher.resolve(op.entry(), (keys & autograd).highest_key());
  if (is_composite(found.rule)) return AutogradKernel::Composite;
  if (found.rule != ResolutionRule::Kernel && found.rule != ResolutionRule::AutogradKernel) {
    // The fallback derives CompositeExplicitAutograd operators through their parts.
    const DispatchKey backend = runtime_key(DispatchKey::Dense, keys.highest_backend());
    const bool explicit_composite =
        dispatcher.resolve(op.entry(), backend).rule == ResolutionRule::DefaultBackendKernel;
    return explicit_composite ? AutogradKernel::Composite : AutogradKernel::None;
  }
  return dispatcher.inspect([&] { return found.kernel->function.entries.is_fallthrough(); })
             ? AutogradKernel::NotDifferentiable
             : AutogradKernel::Own;
}

// The first result that requires a gradient and is no argument.
std::string first_recorded(const Run& run) {
  const std::vector<NamedTensor> arguments = run.argument_tensors();
  for (const NamedTensor& result : run.result_tensors()) {
    const bool is_argument =
        std::any_of(arguments.begin(), arguments.end(),
                    [&](const NamedTensor& a) { return a.tensor.is_same(result.tensor); });
    if (!is_argument && requires_grad(result.tensor)) return result.name;
  }
  return "";
}

bool any_differentiable(const std::vector<NamedTensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const NamedTensor& t) { return is_differentiable(t.tensor.dtype()); });
}

// "demo::f(Tensor x) -> Tensor (ops/f.cc:30), kernels: CPU (ops/f.cc:31)".
std::string describe(const OperatorHandle& op) {
  return str_cat("schema: ", op.schema().to_string(),
                 "; kernels: ", op.entry().dispatcher().describe_kernels(op.entry()));
}

}  // namespace

Finding check_autograd(const CheckedCall& call) {
  if (!call.any_requires_grad()) return skipped("no argument requires a gradient");
  const GradModeGuard on(true);
  DispatchKeySet keys = call.op.entry().argument_keys(call.arguments);
  const AutogradKernel kernel = find_autograd_kernel(call.op, keys);
  if (kernel == AutogradKernel::Composite) return passed();
  {
    // Nothing that a backend's kernel calls is recorded here, but what records itself, as a
    // Function does, is.
    const BelowRecordingGuard below;
    const std::string recorded = first_recorded(call.run());
    if (!recorded.empty())
      return failed(call, recorded, " requires a gradient below autograd: a kernel of a backend ",
                    "records it; it belongs at Autograd; ", describe(call.op));
  }
  if (kernel == AutogradKernel::NotDifferentiable) return passed();
  if (kernel == AutogradKernel::None)
    return failed(call,
                  "an argument requires a gradient, and there is no kernel at an autograd key: "
                  "derive() it or register_autograd() one, not_differentiable() if it has none; ",
                  describe(call.op));
  const Run run = call.run();
  const std::vector<NamedTensor> results = run.result_tensors();
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const NamedTensor& t) { return requires_grad(t.tensor); });
  if (any || !any_differentiable(results)) return passed();
  return failed(call,
                "an argument requires a gradient, and no result does: the kernel at Autograd "
                "records nothing; not_differentiable() says that there is nothing to record; ",
                describe(call.op));
}

}  // namespace sb::internal
