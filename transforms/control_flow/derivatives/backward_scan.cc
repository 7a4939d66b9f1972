#include "switchboard/transforms/control_flow/derivatives/backward_scan.h"

#include <algorithm>
#include <utility>

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

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

using Flags = std::vector<bool>;

Flags there(const Tensors& tensors, size_t size) {
  Flags flags(size);
  for (size_t i = 0; i < tensors.size(); ++i) flags[i] = tensors[i].defined();
  return flags;
}

// Of as many flags as `a` has.
Flags either(Flags a, const Flags& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}
Flags both(Flags a, const Flags& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] && b[i];
  return a;
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
  for (size_t i = 0; i < function.num_results(); ++i) results.push_back(comes(i));
}

BackwardStep::BackwardStep(DerivedFunction* of, const std::vector<bool>& has, size_t num_slices,
                           const std::vector<bool>& wanted, const GradientsOfRuns& gradients) {
  const Flags next = there(gradients.next, has.size()), rows = there(gradients.rows, has.size());
  const std::vector<size_t> stacked = places(there(gradients.stacked, gradients.stacked.size()));
  const auto results_of = [&](const Flags& came) {
    std::vector<size_t> results = places(came);
    for (const size_t i : stacked) results.push_back(has.size() + i);
    return results;
  };
  // What comes to the results of each run, from the last one back.
  std::vector<Flags> states;
  Flags given(has.size()), came = both(either(there(gradients.last, has.size()), next), has);
  for (;;) {
    again = static_cast<size_t>(std::ranges::find(states, came) - states.begin());
    given = either(given, came);
    if (again < states.size()) break;
    states.push_back(came);
    Flags back = rows;
    for (const size_t result : results_of(came)) back = either(back, of->inputs_of(result));
    given = either(given, both(back, has));
    came = both(either(back, next), has);
  }
  carried = places(given);

  std::vector<size_t> inputs = carried;
  for (const size_t i : places(wanted)) inputs.push_back(has.size() + i);
  std::vector<DerivedFunction::Gradient> of_states;
  for (const Flags& state : states) {
    of_states.push_back(of->differentiate(results_of(state), inputs));
    by_data = by_data || std::ranges::any_of(of_states.back().came, &Tensor::defined);
  }
  if (by_data) {
    states = {given};
    again = 0;
    of_states = {of->differentiate(results_of(given), inputs, carried.size())};
  }
  std::vector<bool> kept(inputs.size());
  std::fill_n(kept.begin(), carried.size(), true);
  for (const DerivedFunction::Gradient& gradient : of_states) {
    for (size_t i = 0; i < inputs.size(); ++i) kept[i] = kept[i] || gradient.of_inputs[i].defined();
    Flags& on = hands_on.emplace_back();
    for (size_t i = 0; i < carried.size(); ++i)
      on.push_back(rows[carried[i]] || (!by_data && gradient.of_inputs[i].defined()));
  }
  for (size_t i = carried.size(); i < inputs.size(); ++i) {
    if (!kept[i]) continue;
    const size_t which = inputs[i] - has.size();
    if (which < num_slices)
      slices.push_back(which);
    else
      fixed.push_back(which - num_slices);
  }
  if (by_data) {
    std::vector<size_t> unsure;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (i < carried.size() || (kept[i] && inputs[i] >= has.size() + num_slices))
        unsure.push_back(i);
    functions.push_back(of->function_of(std::move(of_states[0]), kept, unsure));
    return;
  }
  for (size_t state = 0; state < states.size(); ++state) {
    std::vector<bool> come;
    for (const size_t i : carried) come.push_back(states[state][i]);
    const FunctionArgument function("higher_order::scan", "combine_fn",
                                    of->function_of(std::move(of_states[state]), kept));
    functions.push_back(tensor_callable(
        "higher_order::scan: combine_fn",
        [function, come, num_stacked = stacked.size()](const Tensors& in) {
          const auto grads = in.end() - static_cast<std::ptrdiff_t>(come.size() + num_stacked);
          Tensors taken(in.begin(), grads);
          for (size_t i = 0; i < come.size(); ++i)
            if (come[i]) taken.push_back(grads[static_cast<std::ptrdiff_t>(i)]);
          taken.insert(taken.end(), in.end() - static_cast<std::ptrdiff_t>(num_stacked), in.end());
          return function(taken);
        }));
  }
}

bool BackwardStep::always_hands_on(size_t i) const {
  return std::ranges::all_of(hands_on, [i](const Flags& on) { return on[i]; });
}

namespace {

// The step in this state, a number in a tensor; gives the next state behind its results.
Tensors call_step(const BackwardStep& step, const Tensor& state, Tensors given) {
  const auto in_state = [&](size_t i) {
    return FunctionArgument("higher_order::scan", "combine_fn", step.functions[i]);
  };
  if (step.functions.size() == 1) return in_state(0)(given);
  std::vector<IValue> branches;
  for (size_t i = 0; i < step.functions.size(); ++i) {
    const size_t next = i + 1 < step.functions.size() ? i + 1 : step.again;
    const auto change = static_cast<int64_t>(next) - static_cast<int64_t>(i);
    branches.push_back(tensor_callable("higher_order::switch: branch",
                                       [function = in_state(i), change](const Tensors& in) {
                                         Tensors results = function({in.begin(), in.end() - 1});
                                         results.push_back(in.back() + change);
                                         return results;
                                       }));
  }
  given.push_back(state);
  return call_switch(state, std::move(branches), std::move(given));
}

// Which gradients the last step has handed on, which was in this state; the state is undefined
// where there is one alone.
Tensors came_of_last(const BackwardStep& step, const Tensor& state, const Tensors& carried) {
  Tensors came(carried.size());
  for (size_t i = 0; i < step.carried.size(); ++i) {
    if (step.always_hands_on(i)) continue;
    Tensor any = new_full(carried[0], {}, false, DType::Bool);
    for (size_t s = 0; state.defined() && s < step.hands_on.size(); ++s)
      if (step.hands_on[s][i]) any = logical_or(any, state == static_cast<int64_t>(s));
    came[step.carried[i]] = any;
  }
  return came;
}

}  // namespace

GradientsOfInputs run_backward_scan(const BackwardStep& step, const Runs& runs,
                                    const GradientsOfRuns& gradients) {
  const size_t num_carried = runs.carried.size(), num_slices = runs.slices.size();
  Tensors init;
  for (const size_t i : step.carried)
    init.push_back(first_gradient(gradients.last[i], select(runs.carried[i], 0, 0)));
  for (const size_t i : step.fixed) init.push_back(first_gradient(Tensor(), runs.fixed[i]));
  const bool has_states = step.functions.size() > 1;
  // The state, and the one of the step before.
  if (has_states) init.insert(init.end(), 2, new_zeros(runs.carried[0], {}, DType::Int64));
  if (step.by_data) {
    const auto flag = [&](bool value) { return new_full(runs.carried[0], {}, value, DType::Bool); };
    for (const size_t i : step.carried) init.push_back(flag(gradients.last[i].defined()));
    for (size_t i = 0; i < step.fixed.size(); ++i) init.push_back(flag(false));
  }
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
    const Tensor state = has_states ? take(2)[0] : Tensor();
    Tensors came = take(step.by_data ? step.carried.size() : 0);
    const Tensors fixed_came = take(step.by_data ? step.fixed.size() : 0);
    // What comes from outside comes to each run.
    const auto note_there = [&](const Flags& outside) {
      for (size_t i = 0; i < came.size(); ++i)
        if (outside[step.carried[i]]) came[i] = ones_like(came[i]);
    };
    note_there(is_next);
    Tensors given = take(num_carried + num_slices);
    const Tensors of_stacked = take(num_stacked), of_next = take(num_next), of_row = take(num_rows);
    append(&given, take(num_fixed));
    join(of_next, is_next, step.carried, &grads);
    append(&given, grads);
    append(&given, of_stacked);
    append(&given, came);
    const Tensors computed = call_step(step, state, std::move(given));
    at = computed.begin();
    Tensors combined = take(step.carried.size());
    const Tensors slices = take(step.slices.size());
    join(of_row, is_row, step.carried, &combined);
    for (const Tensor& sum : sums) combined.push_back(sum + *at++);
    if (has_states) combined.insert(combined.end(), {computed.back(), clone(state)});
    for (Tensor& flag : came) flag = clone(*at++);
    note_there(is_row);
    append(&combined, came);
    for (const Tensor& flag : fixed_came) combined.push_back(logical_or(flag, *at++));
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
  found.came = step.by_data ? Tensors(num_carried)
                            : came_of_last(step, has_states ? *(at + 1) : Tensor(), runs.carried);
  found.fixed_came.resize(runs.fixed.size());
  if (has_states) at += 2;
  if (step.by_data) {
    found.came = spread_next(step.carried, num_carried);
    found.fixed_came = spread_next(step.fixed, runs.fixed.size());
  }
  found.slices = spread_next(step.slices, num_slices);
  return found;
}

}  // namespace sb::control_flow
