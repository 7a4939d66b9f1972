// while_loop: keeps what each trip began with, and goes back through them.

#include "switchboard/transforms/control_flow/while_loop.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/derivatives/backward_scan.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/derivatives/derived_function.h"

namespace sb::control_flow {
namespace {

// What a loop did: what is carried after each trip, or the carried inputs as one row if there was
// none; and whether there was one.
struct Trips {
  Tensors stacks;
  Tensor any;
};

Trips run_trips(const DerivedCallSite& site, const WhileLoopCall& call, bool rows_unseen) {
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
  Tensors stacks =
      site.run(while_loop_stack_output_op(), {tensor_callable(call.cond_fn.name(), cond_fn),
                                              tensor_callable(call.body_fn.name(), body_fn),
                                              carried, call.additional, rows_unseen});
  const Tensor any = select(stacks.back(), 0, -1) > 0;
  stacks.pop_back();
  return {std::move(stacks), any};
}

// As each trip began.
Tensors began_with(const WhileLoopCall& call, const Tensors& stacks) {
  const BelowAutogradGuard guard;
  Tensors began;
  for (size_t i = 0; i < stacks.size(); ++i)
    began.push_back(cat({unsqueeze(call.carried[i], 0), slice(stacks[i], 0, 0, -1)}, 0));
  return began;
}

// The results of a loop. Rows lie densely, results as the carried inputs do where each trip leaves
// them so. Where one does not, only the data tell: a graph has them dense, fake tensors refuse.
Tensors last_rows(const DerivedCallSite& site, const WhileLoopCall& call, const Tensors& stacks,
                  const Tensors& first_trip) {
  const BelowAutogradGuard guard;
  Tensors results, copies;
  for (const Tensor& t : call.carried) copies.push_back(empty_like(t));
  const auto is_of_mode = [](const Tensor& t) { return t.impl()->mode_data() != nullptr; };
  if (std::ranges::any_of(call.carried, is_of_mode))
    check_same_metadata(str_cat(call.body_fn.name(), ": ", site.layer), first_trip,
                        "a loop that does not go round", copies, Agree::GraphStrides);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const Tensor last = select(stacks[i], 0, -1);
    results.push_back(same_strides(first_trip[i], copies[i]) ? copy(copies[i], last, false)
                                                             : clone(last));
  }
  return results;
}

// The last rows, or all rows, are the results.
void derive_loop(const DerivedCallSite& site, Stack* stack, bool last_row) {
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
  const Trips trips = run_trips(site, call, last_row || call.rows_unseen);
  Recorded recorded;
  recorded.results = trips.stacks;
  if (last_row) {
    recorded.results = last_rows(site, call, trips.stacks, function->results());
  }
  recorded.num_returned = num_carried;
  for (Tensor& rows : began_with(call, trips.stacks)) recorded.results.push_back(std::move(rows));
  recorded.others = {trips.any};
  recorded.inputs = call.with_additional(call.carried);
  recorded.inputs.insert(recorded.inputs.end(), captured.begin(), captured.end());
  const std::vector<bool> wanted = which_require_grad(recorded.inputs);
  recorded.derived = GradientFlow(*function, num_carried, wanted).carried;
  const std::vector<bool> has = recorded.derived;
  recorded.derived.insert(recorded.derived.end(), has.begin(), has.end());

  recorded.backward = [function, wanted, has, num_carried, last_row](
                          const Tensors& inputs, const Tensors& others, const Tensors& results,
                          const TensorVector& grads) {
    const auto at = [](const auto& list, size_t i) {
      return list.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const size_t num_fixed = inputs.size() - num_carried;
    // Everything that either way needs, as operands: rows, what is fixed, and the gradients there
    // are.
    Tensors operands(at(results, num_carried), results.end());
    operands.insert(operands.end(), at(inputs, num_carried), inputs.end());
    const std::vector<size_t> given = defined_in(grads, 0, 2 * num_carried);
    for (const size_t i : given) operands.push_back(contiguous(grads[i]));
    const auto gradients_in = [=](const Tensors& in) {
      return spread({at(in, num_carried + num_fixed), in.end()}, given, 2 * num_carried);
    };
    const auto of_runs = [=](const Tensors& of_results) {
      const Tensors none(num_carried), first(at(of_results, 0), at(of_results, num_carried));
      return GradientsOfRuns{last_row ? first : none,
                             last_row ? none : first,
                             {at(of_results, num_carried), of_results.end()},
                             {}};
    };
    Tensors all_grads(grads.begin(), grads.end());
    all_grads.resize(2 * num_carried);
    const BackwardStep step(function.get(), has, 0, {at(wanted, num_carried), wanted.end()},
                            of_runs(all_grads));
    const auto back = [=](const Tensors& in) {
      const GradientsOfRuns gradients = of_runs(gradients_in(in));
      const GradientsOfInputs found =
          run_backward_scan(step,
                            {{in.begin(), at(in, num_carried)},
                             {},
                             {at(in, num_carried), at(in, num_carried + num_fixed)}},
                            gradients);
      Tensors all;
      for (const size_t i : step.carried) all.push_back(found.carried[i]);
      for (const size_t i : step.fixed) all.push_back(found.fixed[i]);
      return all;
    };
    const auto no_trip = [=](const Tensors& in) {
      const Tensors of_results = gradients_in(in);
      Tensors all;
      for (const size_t i : step.carried) {
        Tensor sum = of_results[i];
        if (sum.defined() && !last_row) sum = select(sum, 0, 0);
        if (const Tensor& row = of_results[num_carried + i]; row.defined()) {
          const Tensor of_row = select(row, 0, 0);
          sum = sum.defined() ? sum + of_row : of_row;
        }
        all.push_back(sum.defined() ? clone(sum, MemoryFormat::Contiguous)
                                    : first_gradient(sum, select(in[i], 0, 0)));
      }
      for (const size_t i : step.fixed)
        all.push_back(first_gradient(Tensor(), in[num_carried + i]));
      return all;
    };
    const Tensors found = cond(others[0], back, no_trip, operands);
    std::vector<size_t> come = step.carried;
    for (const size_t i : step.fixed) come.push_back(num_carried + i);
    Tensors all = spread(found, come, inputs.size());
    for (size_t i = 0; i < all.size(); ++i)
      if (!wanted[i]) all[i] = Tensor();
    return all;
  };
  *stack = values_of(record(site, std::move(recorded)));
}

void derive_while_loop(const DerivedCallSite& site, Stack* stack) {
  derive_loop(site, stack, /*last_row=*/true);
}
void derive_stack_output(const DerivedCallSite& site, Stack* stack) {
  derive_loop(site, stack, /*last_row=*/false);
}

[[maybe_unused]] const bool registered =
    register_derivative(while_loop_op(), derive_while_loop) &&
    register_derivative(while_loop_stack_output_op(), derive_stack_output);

}  // namespace
}  // namespace sb::control_flow
