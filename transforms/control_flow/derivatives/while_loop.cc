// while_loop: keeps what each trip began with, and goes back through them.

#include "switchboard/transforms/control_flow/while_loop.h"

#include <iterator>
#include <memory>
#include <utility>

#include "switchboard/autograd/engine.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/derivatives/backward_scan.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/derivatives/derived_function.h"

namespace sb::control_flow {
namespace {

// What a loop did: what is carried in the end, if that is wanted; what is carried after each trip,
// or the carried inputs as one row if there was none; and whether there was one.
struct Trips {
  Tensors last, rows;
  Tensor any;
};

Trips run_trips(const DerivedCallSite& site, const WhileLoopCall& call, bool with_last) {
  const BelowAutogradGuard guard;
  const Tensor count = new_zeros(call.carried[0], {}, DType::Int64);
  const size_t num_carried = call.carried.size();
  // Both functions without the counter.
  const auto without = [num_carried](const Tensors& in) {
    Tensors rest(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(num_carried));
    rest.insert(rest.end(), in.begin() + static_cast<std::ptrdiff_t>(num_carried) + 1, in.end());
    return rest;
  };
  const auto cond_fn = [without, f = call.cond_fn](const Tensors& in) { return f(without(in)); };
  const auto body_fn = [without, num_carried, f = call.body_fn](const Tensors& in) {
    Tensors next = f(without(in));
    next.push_back(in[num_carried] + 1);
    return next;
  };
  Tensors carried = call.carried;
  carried.push_back(count);
  Tensors results =
      site.run(while_loop_stack_output_op(), {tensor_callable(call.cond_fn.name(), cond_fn),
                                              tensor_callable(call.body_fn.name(), body_fn),
                                              carried, call.additional, with_last});
  Trips trips;
  trips.any = select(results.back(), 0, -1) > 0;
  if (with_last) trips.last.assign(results.begin(), results.begin() + std::ssize(call.carried));
  trips.rows.assign(results.end() - std::ssize(carried), results.end() - 1);
  return trips;
}

// As each trip began.
Tensors began_with(const WhileLoopCall& call, const Tensors& rows) {
  const BelowAutogradGuard guard;
  Tensors began;
  for (size_t i = 0; i < rows.size(); ++i)
    began.push_back(cat({unsqueeze(call.carried[i], 0), slice(rows[i], 0, 0, -1)}, 0));
  return began;
}

// Gives what is carried in the end, or all rows, or both: one after the other.
void derive_loop(const DerivedCallSite& site, Stack* stack, bool gives_last, bool gives_rows) {
  const WhileLoopCall call(*stack, site.op.name());
  const size_t num_carried = call.carried.size();
  if (num_carried == 0) {
    *stack = values_of(site.run(site.op, *stack));
    return;
  }
  // Another trip's may depend on what requires a gradient where the first does not.
  std::vector<bool> needed;
  for (const Tensor& t : call.carried) needed.push_back(is_differentiable(t.dtype()));
  for (const Tensor& t : call.additional) needed.push_back(requires_grad(t));
  Tensors captured;
  const auto function = std::make_shared<DerivedFunction>(
      call.body_fn, site.layer, call.with_additional(call.carried), needed, &captured);

  function->refuse_as_strided();
  // The last row is no stand-in for what is carried in the end: its gradient would be one of all
  // rows, with zeros for the others, which times an infinite derivative are NaN.
  const Trips trips = run_trips(site, call, gives_last);
  Recorded recorded;
  const auto add_results = [&](const Tensors& more) {
    recorded.results.insert(recorded.results.end(), more.begin(), more.end());
  };
  if (gives_last) add_results(trips.last);
  if (gives_rows) add_results(trips.rows);
  const size_t num_returned = recorded.results.size();
  recorded.num_returned = num_returned;
  add_results(began_with(call, trips.rows));
  recorded.others = {trips.any};
  recorded.inputs = call.with_additional(call.carried);
  recorded.inputs.insert(recorded.inputs.end(), captured.begin(), captured.end());
  const std::vector<bool> wanted = which_require_grad(recorded.inputs);
  const std::vector<bool> has = GradientFlow(*function, num_carried, wanted).carried;
  while (recorded.derived.size() < recorded.results.size())
    recorded.derived.insert(recorded.derived.end(), has.begin(), has.end());

  recorded.backward = [function, wanted, has, num_carried, num_returned, gives_last, gives_rows](
                          const Tensors& inputs, const Tensors& others, const Tensors& results,
                          const TensorVector& grads) {
    const auto at = [](const auto& list, size_t i) {
      return list.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const size_t num_fixed = inputs.size() - num_carried;
    // Everything that either way needs, as operands: rows, what is fixed, and the gradients there
    // are.
    Tensors operands(at(results, num_returned), results.end());
    operands.insert(operands.end(), at(inputs, num_carried), inputs.end());
    const std::vector<size_t> given = defined_in(grads, 0, results.size());
    for (const size_t i : given) operands.push_back(contiguous(grads[i]));
    const auto gradients_in = [=, size = results.size()](const Tensors& in) {
      return spread({at(in, num_carried + num_fixed), in.end()}, given, size);
    };
    const auto of_runs = [=](const Tensors& of_results) {
      const auto part = [&](size_t i) {
        return Tensors(at(of_results, i * num_carried), at(of_results, (i + 1) * num_carried));
      };
      const Tensors none(num_carried);
      return GradientsOfRuns{gives_last ? part(0) : none,
                             gives_rows ? part(gives_last) : none,
                             {at(of_results, num_returned), of_results.end()},
                             {}};
    };
    Tensors all_grads(grads.begin(), grads.end());
    all_grads.resize(results.size());
    const GradientsOfRuns given_grads = of_runs(all_grads);
    const BackwardStep step(function.get(), has, 0, {at(wanted, num_carried), wanted.end()},
                            given_grads);
    // Which carried tensors have a gradient if there is no trip; and those that have one, or none,
    // by how many trips there are.
    std::vector<bool> passes;
    for (size_t i = 0; i < num_carried; ++i)
      passes.push_back(given_grads.last[i].defined() || given_grads.next[i].defined() ||
                       given_grads.rows[i].defined());
    std::vector<size_t> unsure;
    for (size_t i = 0; i < step.carried.size(); ++i)
      if (!passes[step.carried[i]] || !step.always_hands_on(i)) unsure.push_back(step.carried[i]);
    const auto back = [=](const Tensors& in) {
      const GradientsOfInputs found =
          run_backward_scan(step,
                            {{in.begin(), at(in, num_carried)},
                             {},
                             {at(in, num_carried), at(in, num_carried + num_fixed)}},
                            of_runs(gradients_in(in)));
      Tensors all;
      for (const size_t i : step.carried) all.push_back(found.carried[i]);
      for (const size_t i : step.fixed) all.push_back(found.fixed[i]);
      for (const size_t i : unsure)
        all.push_back(found.came[i].defined() ? found.came[i]
                                              : new_full(in[0], {}, true, DType::Bool));
      for (const size_t i : step.fixed)
        if (step.by_data) all.push_back(found.fixed_came[i]);
      return all;
    };
    const auto no_trip = [=](const Tensors& in) {
      const GradientsOfRuns gradients = of_runs(gradients_in(in));
      Tensors all;
      for (const size_t i : step.carried) {
        Tensor sum = gradients.last[i];
        for (const Tensors& rows : {gradients.next, gradients.rows}) {
          if (!rows[i].defined()) continue;
          const Tensor of_row = select(rows[i], 0, 0);
          sum = sum.defined() ? sum + of_row : of_row;
        }
        all.push_back(sum.defined() ? clone(sum, MemoryFormat::Contiguous)
                                    : first_gradient(sum, select(in[i], 0, 0)));
      }
      for (const size_t i : step.fixed)
        all.push_back(first_gradient(Tensor(), in[num_carried + i]));
      for (const size_t i : unsure) all.push_back(new_full(in[0], {}, passes[i], DType::Bool));
      for (size_t i = 0; step.by_data && i < step.fixed.size(); ++i)
        all.push_back(new_full(in[0], {}, false, DType::Bool));
      return all;
    };
    const Tensors found = cond(others[0], back, no_trip, operands);
    std::vector<size_t> come = step.carried;
    for (const size_t i : step.fixed) come.push_back(num_carried + i);
    Tensors all = spread(found, come, inputs.size());
    for (size_t i = 0; i < all.size(); ++i)
      if (!wanted[i]) all[i] = Tensor();
    for (size_t k = 0; k < unsure.size(); ++k)
      if (const Tensor& grad = all[unsure[k]]; grad.defined())
        internal::note_may_be_absent(grad, found[come.size() + k]);
    for (size_t k = 0; k < step.fixed.size(); ++k)
      if (const Tensor& grad = all[num_carried + step.fixed[k]]; grad.defined())
        internal::note_may_be_absent(
            grad, step.by_data ? found[come.size() + unsure.size() + k] : others[0]);
    return all;
  };
  *stack = values_of(record(site, std::move(recorded)));
}

void derive_while_loop(const DerivedCallSite& site, Stack* stack) {
  derive_loop(site, stack, /*gives_last=*/true, /*gives_rows=*/false);
}
void derive_stack_output(const DerivedCallSite& site, Stack* stack) {
  const bool gives_last = WhileLoopCall(*stack, site.op.name()).with_last;
  derive_loop(site, stack, gives_last, /*gives_rows=*/true);
}

[[maybe_unused]] const bool registered =
    register_derivative(while_loop_op(), derive_while_loop) &&
    register_derivative(while_loop_stack_output_op(), derive_stack_output);

}  // namespace
}  // namespace sb::control_flow
