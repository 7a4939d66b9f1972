#include "switchboard/transforms/control_flow/derivatives/backward_scan.h"

#include <utility>

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/scan.h"

namespace sb::control_flow {
namespace {

void append(Tensors* to, const Tensors& more) { to->insert(to->end(), more.begin(), more.end()); }

Tensors dense_of(const Tensors& grads) {
  Tensors defined;
  for (const Tensor& t : grads)
    if (t.defined()) defined.push_back(contiguous(t));
  return defined;
}

// Gradients of carried tensors that come from outside, one for each that `there` has true: adds
// them to `grads`, which are those of the tensors in `which`.
void join(const Tensors& others, const std::vector<bool>& there, const std::vector<size_t>& which,
          Tensors* grads) {
  size_t next = 0;
  for (size_t i = 0; i < which.size(); ++i)
    if (there[which[i]]) (*grads)[i] = (*grads)[i] + others[next++];
}

std::vector<bool> there(const Tensors& tensors, size_t size) {
  std::vector<bool> flags(size);
  for (size_t i = 0; i < tensors.size(); ++i) flags[i] = tensors[i].defined();
  return flags;
}

// Which carried tensors of those that may have a gradient come to have one: of their own, or of
// what is computed from them in this run or a later one.
std::vector<bool> reached(const DerivedFunction& function, const std::vector<bool>& may,
                          std::vector<bool> came) {
  const size_t num_carried = may.size();
  for (bool more = true; more;) {
    more = false;
    for (size_t result = 0; result < came.size(); ++result) {
      if (!came[result]) continue;
      const std::vector<bool> from = function.inputs_of(result);
      for (size_t i = 0; i < num_carried; ++i)
        if (may[i] && from[i] && !came[i]) more = came[i] = true;
    }
  }
  came.resize(num_carried);
  for (size_t i = 0; i < num_carried; ++i) came[i] = came[i] && may[i];
  return came;
}

}  // namespace

Tensor first_gradient(const Tensor& grad, const Tensor& like) {
  if (grad.defined()) return contiguous(grad);
  return zeros_like(like, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                    MemoryFormat::Contiguous);
}

GradientFlow::GradientFlow(const DerivedFunction& function, size_t num_carried,
                           std::vector<bool> requires_grad) {
  std::vector<std::vector<bool>> inputs;
  for (size_t i = 0; i < function.num_results(); ++i) inputs.push_back(function.inputs_of(i));
  const auto comes = [&](size_t result) {
    for (size_t i = 0; i < requires_grad.size(); ++i)
      if (requires_grad[i] && inputs[result][i]) return true;
    return false;
  };
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < num_carried; ++i)
      if (!requires_grad[i] && comes(i)) more = requires_grad[i] = true;
  }
  carried.assign(requires_grad.begin(),
                 requires_grad.begin() + static_cast<std::ptrdiff_t>(num_carried));
  for (size_t i = 0; i < function.num_results(); ++i)
    results.push_back(i < num_carried ? carried[i] : comes(i));
}

BackwardStep::BackwardStep(DerivedFunction* of, const std::vector<bool>& has, size_t num_slices,
                           const std::vector<bool>& wanted, const std::vector<bool>& came)
    : carried(places(reached(*of, has, came))) {
  std::vector<size_t> results = carried, inputs = carried;
  for (size_t i = has.size(); i < came.size(); ++i)
    if (came[i]) results.push_back(i);
  for (const size_t i : places(wanted)) inputs.push_back(has.size() + i);
  DerivedFunction::Gradient gradient = of->differentiate(results, inputs);
  std::vector<bool> kept(inputs.size(), true);
  for (size_t i = carried.size(); i < inputs.size(); ++i) {
    const size_t which = inputs[i] - has.size();
    kept[i] = gradient.of_inputs[i].defined();
    if (!kept[i]) continue;
    if (which < num_slices)
      slices.push_back(which);
    else
      fixed.push_back(which - num_slices);
  }
  function = std::make_shared<const FunctionArgument>("higher_order::scan", "combine_fn",
                                                      of->function_of(std::move(gradient), kept));
}

GradientsOfInputs run_backward_scan(const BackwardStep& step, const Runs& runs,
                                    const GradientsOfRuns& gradients) {
  const size_t num_carried = runs.carried.size(), num_slices = runs.slices.size();
  Tensors init;
  for (const size_t i : step.carried)
    init.push_back(first_gradient(gradients.last[i], select(runs.carried[i], 0, 0)));
  for (const size_t i : step.fixed) init.push_back(first_gradient(Tensor(), runs.fixed[i]));
  const Tensors stacked = dense_of(gradients.stacked), next = dense_of(gradients.next),
                rows = dense_of(gradients.rows);
  Tensors xs = runs.carried;
  for (const Tensors& more : {runs.slices, stacked, next, rows}) append(&xs, more);

  const auto combine = [=, num_stacked = stacked.size(), num_next = next.size(),
                        num_rows = rows.size(), num_fixed = runs.fixed.size(),
                        is_next = there(gradients.next, num_carried),
                        is_row = there(gradients.rows, num_carried)](const Tensors& in) {
    auto at = in.begin();
    const auto take = [&at](size_t count) {
      const auto begin = at;
      at += static_cast<std::ptrdiff_t>(count);
      return Tensors(begin, at);
    };
    Tensors grads = take(step.carried.size());
    const Tensors sums = take(step.fixed.size());
    Tensors given = take(num_carried + num_slices);
    const Tensors of_stacked = take(num_stacked), of_next = take(num_next), of_row = take(num_rows);
    append(&given, take(num_fixed));
    join(of_next, is_next, step.carried, &grads);
    append(&given, grads);
    append(&given, of_stacked);
    const Tensors computed = (*step.function)(given);
    at = computed.begin();
    Tensors combined = take(step.carried.size());
    const Tensors slices = take(step.slices.size());
    join(of_row, is_row, step.carried, &combined);
    for (const Tensor& sum : sums) combined.push_back(sum + *at++);
    append(&combined, slices);
    return combined;
  };
  const Tensors scanned = scan(combine, std::move(init), std::move(xs), runs.fixed,
                               /*reverse=*/true);
  auto at = scanned.begin();
  const auto spread_next = [&](const std::vector<size_t>& which, size_t size) {
    const auto begin = at;
    at += static_cast<std::ptrdiff_t>(which.size());
    return spread({begin, at}, which, size);
  };
  GradientsOfInputs found;
  found.carried = spread_next(step.carried, num_carried);
  found.fixed = spread_next(step.fixed, runs.fixed.size());
  found.slices = spread_next(step.slices, num_slices);
  return found;
}

}  // namespace sb::control_flow
