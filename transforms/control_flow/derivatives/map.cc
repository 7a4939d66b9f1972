// map: the gradient is a map over the slices and the gradients of the results' slices. What every
// slice is given gets the sum of its gradients.

#include "switchboard/transforms/control_flow/map.h"

#include <memory>
#include <utility>

#include "switchboard/autograd/engine.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/derivatives/derived_function.h"

namespace sb::control_flow {
namespace {

void derive_map(const DerivedCallSite& site, Stack* stack) {
  const MapCall call(*stack);
  const size_t num_xs = call.xs.size();
  Tensors captured, given = call.xs;
  given.insert(given.end(), call.args.begin(), call.args.end());
  const auto function = [&] {
    const Tensors first = [&] {
      const BesideProgram beside;
      const BelowAutogradGuard below;
      return call.inputs_at(0);
    }();
    return std::make_shared<DerivedFunction>(call.f, site.layer, first, which_require_grad(given),
                                             &captured);
  }();
  function->refuse_as_strided();
  Tensors inputs = std::move(given);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  Recorded recorded;
  recorded.results = site.run(site.op, *stack);
  recorded.num_returned = recorded.results.size();
  for (size_t i = 0; i < recorded.results.size(); ++i)
    recorded.derived.push_back(function->derives(i));
  const std::vector<size_t> wanted = places(which_require_grad(inputs));
  recorded.inputs = std::move(inputs);
  recorded.backward = [function, wanted, num_xs](const Tensors& inputs, const Tensors&,
                                                 const Tensors&, const TensorVector& grads) {
    const std::vector<size_t> given = defined_in(grads, 0, grads.size());
    DerivedFunction::Gradient gradient = function->differentiate(given, wanted);
    std::vector<bool> kept;
    std::vector<size_t> come;
    for (size_t i = 0; i < wanted.size(); ++i) {
      kept.push_back(gradient.of_inputs[i].defined());
      if (kept.back()) come.push_back(wanted[i]);
    }
    if (come.empty()) return Tensors(inputs.size());
    std::vector<size_t> unsure, unsure_inputs;  // of which only the data tell whether they come
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!gradient.came[i].defined()) continue;
      unsure.push_back(i);
      unsure_inputs.push_back(wanted[i]);
    }
    const auto middle = inputs.begin() + static_cast<std::ptrdiff_t>(num_xs);
    Tensors xs(inputs.begin(), middle);
    for (const size_t i : given) xs.push_back(contiguous(grads[i]));
    // The slices of both stand before what is the same for all; the gradient takes its own last.
    const FunctionArgument of_slices("higher_order::map_impl", "f",
                                     function->function_of(std::move(gradient), kept, unsure));
    const auto f = [of_slices, num_xs, num_grads = given.size()](const Tensors& in) {
      const auto first_grad = in.begin() + static_cast<std::ptrdiff_t>(num_xs);
      const auto first_arg = first_grad + static_cast<std::ptrdiff_t>(num_grads);
      Tensors ordered(in.begin(), first_grad);
      ordered.insert(ordered.end(), first_arg, in.end());
      ordered.insert(ordered.end(), first_grad, first_arg);
      return of_slices(ordered);
    };
    Tensors results = map(f, std::move(xs), {middle, inputs.end()});
    for (size_t i = 0; i < come.size(); ++i)
      if (come[i] >= num_xs) results[i] = sum(results[i], {0});
    Tensors all = spread(results, come, inputs.size());
    for (size_t k = 0; k < unsure.size(); ++k)
      internal::note_may_be_absent(all[unsure_inputs[k]], any(results[come.size() + k]));
    return all;
  };
  *stack = values_of(record(site, std::move(recorded)));
}

[[maybe_unused]] const bool registered = register_derivative(map_impl_op(), derive_map);

}  // namespace
}  // namespace sb::control_flow
