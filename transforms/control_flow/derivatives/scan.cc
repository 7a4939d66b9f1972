// scan: keeps what each step began with, and goes back through them.

#include "switchboard/transforms/control_flow/scan.h"

#include <memory>
#include <utility>

#include "switchboard/autograd/engine.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/transforms/control_flow/derivatives/backward_scan.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/derivatives/derived_function.h"

namespace sb::control_flow {
namespace {

void derive_scan(const DerivedCallSite& site, Stack* stack) {
  const ScanCall call(*stack);
  const size_t num_carried = call.init.size(), num_xs = call.xs.size();
  // Another step's carry may depend on what requires a gradient where the first does not.
  std::vector<bool> needed;
  for (const Tensor& t : call.init) needed.push_back(is_differentiable(t.dtype()));
  for (const Tensors* const list : {&call.xs, &call.additional})
    for (const Tensor& t : *list) needed.push_back(requires_grad(t));
  Tensors captured;
  const auto function = [&] {
    const Tensors first = [&] {
      const BesideProgram beside;
      const BelowAutogradGuard below;
      return call.inputs_at(call.init, 0);
    }();
    return std::make_shared<DerivedFunction>(call.combine_fn, site.layer, first, needed, &captured);
  }();

  function->refuse_as_strided();
  // Each step gives what it was carried, too.
  const auto keeping = [f = call.combine_fn, num_carried](const Tensors& in) {
    Tensors results = f(in);
    results.insert(results.end(), in.begin(),
                   in.begin() + static_cast<std::ptrdiff_t>(num_carried));
    return results;
  };
  Recorded recorded;
  recorded.results = site.run(site.op, {tensor_callable(call.combine_fn.name(), keeping), call.init,
                                        call.xs, call.additional});
  const size_t num_returned = recorded.results.size() - num_carried;
  recorded.num_returned = num_returned;
  recorded.inputs = call.init;
  for (const Tensors& list : {call.xs, call.additional, captured})
    recorded.inputs.insert(recorded.inputs.end(), list.begin(), list.end());
  const std::vector<bool> wanted = which_require_grad(recorded.inputs);
  const GradientFlow flow(*function, num_carried, wanted);
  recorded.derived = flow.results;
  recorded.derived.insert(recorded.derived.end(), flow.carried.begin(), flow.carried.end());
  recorded.backward = [function, wanted, has = flow.carried, num_carried, num_xs, num_returned](
                          const Tensors& inputs, const Tensors&, const Tensors& results,
                          const TensorVector& grads) {
    const auto at = [](const auto& list, size_t i) {
      return list.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const Runs runs{{at(results, num_returned), results.end()},
                    {at(inputs, num_carried), at(inputs, num_carried + num_xs)},
                    {at(inputs, num_carried + num_xs), inputs.end()}};
    GradientsOfRuns gradients;
    gradients.last.assign(grads.begin(), at(grads, num_carried));
    gradients.stacked.assign(at(grads, num_carried), at(grads, num_returned));
    gradients.rows.assign(at(grads, num_returned), grads.end());
    const BackwardStep step(function.get(), has, num_xs, {at(wanted, num_carried), wanted.end()},
                            gradients);
    const GradientsOfInputs found = run_backward_scan(step, runs, gradients);
    Tensors all = found.carried;
    all.insert(all.end(), found.slices.begin(), found.slices.end());
    all.insert(all.end(), found.fixed.begin(), found.fixed.end());
    Tensors came = found.came;
    came.resize(num_carried + num_xs);
    came.insert(came.end(), found.fixed_came.begin(), found.fixed_came.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (!wanted[i]) all[i] = Tensor();
      if (all[i].defined() && came[i].defined()) internal::note_may_be_absent(all[i], came[i]);
    }
    return all;
  };
  *stack = values_of(record(site, std::move(recorded)));
}

[[maybe_unused]] const bool registered = register_derivative(scan_op(), derive_scan);

}  // namespace
}  // namespace sb::control_flow
