// What cond, while_loop, map and scan do in a fake mode: their functions run on fake tensors,
// whatever the data would have decided.

#include <algorithm>
#include <optional>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/fake/call_function.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/merge_branches.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::internal {

std::vector<Tensor> call_in(FakeMode& mode, const control_flow::FunctionArgument& function,
                            const std::vector<Tensor>& inputs) {
  const ModeGuard active(&mode);
  const std::vector<Tensor> results = function.call_regardless(inputs, "in a fake mode", "fake");
  for (size_t i = 0; i < results.size(); ++i) {
    const IntrusivePtr<ModeData>& data = results[i].impl()->mode_data();
    SB_CHECK(data && &data->mode() == &mode, function.name(), ": result ", i,
             ": expected a fake tensor of the mode, got ", results[i].describe());
  }
  return results;
}

namespace {

using control_flow::Agree;
using control_flow::FunctionArgument;

// As many of each slice, along a new first dimension. How many there are changes no stride.
std::vector<Tensor> stacked(FakeMode& mode, const std::vector<Tensor>& slices,
                            const SymInt& count) {
  const ModeGuard active(&mode);
  std::vector<Tensor> tensors;
  for (const Tensor& slice : slices) {
    const Tensor one = stack({slice}, 0);
    std::vector<SymInt> sizes(one.sym_sizes().begin(), one.sym_sizes().end());
    sizes[0] = count;
    tensors.push_back(new_empty_strided(one, sizes, one.sym_strides()));
  }
  return tensors;
}

// The tensors as they are in any trip, or slice: what the mode knows of their data holds for one
// alone.
std::vector<Tensor> without_constants(FakeMode& mode, std::vector<Tensor> tensors) {
  const ModeGuard active(&mode);
  for (Tensor& t : tensors) {
    if (!constant_of(t).defined()) continue;
    t = clone(t);
    mode.converter().forget_constants(constant_of(t).storage());
  }
  return tensors;
}

// The slice that stands for all: the last, where its number is known, as it lies farthest behind,
// so that a function that makes memory larger makes it as large as in the end.
int64_t slice_for_all(const SymInt& count) {
  const std::optional<int64_t> number = count.maybe_int();
  return number && *number > 0 ? *number - 1 : 0;
}

// Each rule holds the call's tensors to its end, and these the mode: the stack may have been the
// last to hold them.

void cond_rule(FakeMode& mode, DispatchKeySet, Stack* stack) {
  const control_flow::CondCall call(*stack);
  *stack = control_flow::values_of(
      merge_branches(mode, "higher_order::cond",
                     {run_branch(mode, "true_fn", call.true_fn, call.operands),
                      run_branch(mode, call.false_fn.name(), call.false_fn, call.operands)}));
}

void switch_rule(FakeMode& mode, DispatchKeySet, Stack* stack) {
  const control_flow::SwitchCall call(*stack);
  std::vector<BranchResults> branches;
  for (const FunctionArgument& branch : call.branches)
    branches.push_back(
        run_branch(mode, branches.empty() ? "branch 0" : branch.name(), branch, call.operands));
  *stack = control_flow::values_of(merge_branches(mode, "higher_order::switch", branches));
}

bool same_strides(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!control_flow::same_strides(a[i], b[i])) return false;
  return true;
}

// What a loop gives in the end. How often it goes round only the data tell; strides must be the
// same from the first trip on, and where there is none, which gives copies.
std::vector<Tensor> carried_in_the_end(FakeMode& mode, const control_flow::WhileLoopCall& call,
                                       const std::vector<Tensor>& first) {
  std::vector<Tensor> next = first;
  if (!same_strides(first, call.carried)) {
    next = call_in(mode, call.body_fn, call.with_additional(without_constants(mode, first)));
    control_flow::check_same_metadata(call.body_fn.name(), next, "the first trip", first,
                                      Agree::GraphStrides);
  }
  std::vector<Tensor> copies;
  {
    const ModeGuard active(&mode);
    for (const Tensor& tensor : call.carried) copies.push_back(clone(tensor));
    control_flow::make_apart(&next, call.with_additional(call.carried));
  }
  control_flow::check_same_metadata(call.body_fn.name(), next, "a loop that does not go round",
                                    copies, Agree::GraphStrides);
  return without_constants(mode, std::move(next));
}

// What the first trip gives.
std::vector<Tensor> first_trip(FakeMode& mode, const control_flow::WhileLoopCall& call) {
  const std::vector<Tensor> inputs = call.with_additional(without_constants(mode, call.carried));
  call.check_condition(call_in(mode, call.cond_fn, inputs));
  std::vector<Tensor> next = call_in(mode, call.body_fn, inputs);
  control_flow::check_same_metadata(call.body_fn.name(), next, "the carried inputs", call.carried,
                                    Agree::GraphSizes);
  return next;
}

void while_loop_rule(FakeMode& mode, DispatchKeySet, Stack* stack) {
  const control_flow::WhileLoopCall call(*stack);
  *stack = control_flow::values_of(carried_in_the_end(mode, call, first_trip(mode, call)));
}

void stack_output_rule(FakeMode& mode, DispatchKeySet, Stack* stack) {
  const control_flow::WhileLoopCall call(*stack, "higher_order::while_loop_stack_output");
  // How many trips there are only the data tells.
  SB_CHECK_KIND(DynamicOutputShapeError, call.with_last || mode.shape_env(),
                "higher_order::while_loop_stack_output: the number of trips, the size of its "
                "results, depends on the data; a fake mode with a ShapeEnv has a symbol for it");
  const SymInt rows = call.with_last ? SymInt(1) : [&] {
    const SymReason reason("higher_order::while_loop_stack_output");
    return mode.shape_env()->create_unbacked_symint();
  }();
  const std::vector<Tensor> next = first_trip(mode, call);
  std::vector<Tensor> results;
  if (call.with_last) results = carried_in_the_end(mode, call, next);
  for (Tensor& tensor : stacked(mode, without_constants(mode, next), rows))
    results.push_back(std::move(tensor));
  *stack = control_flow::values_of(results);
}

void map_rule(FakeMode& mode, DispatchKeySet, Stack* stack) {
  const control_flow::MapCall call(*stack);
  const std::vector<Tensor> inputs = [&] {
    const ModeGuard active(&mode);
    return call.inputs_at(slice_for_all(call.size()));
  }();
  const std::vector<Tensor> slices = call_in(mode, call.f, without_constants(mode, inputs));
  *stack = control_flow::values_of(stacked(mode, slices, call.size()));
}

// The carry of the last of a scan's steps. Strides may differ from step to step: steps are made
// until they have the strides of an earlier one, after which they come round.
std::vector<Tensor> last_carry(const control_flow::ScanCall& call, std::vector<Tensor> first,
                               const auto& step) {
  std::vector<std::vector<Tensor>> carries{call.init, std::move(first)};
  const std::optional<int64_t> size = call.size().maybe_int();
  while (true) {
    const auto steps = std::ssize(carries) - 1;
    if (steps == size) return carries.back();
    const auto same = std::ranges::find_if(carries.begin(), carries.end() - 1, [&](const auto& c) {
      return same_strides(c, carries.back());
    });
    const int64_t earlier = same - carries.begin();
    if (earlier == steps) {
      carries.push_back(step(carries.back()));
      continue;
    }
    const int64_t period = steps - earlier;
    if (period == 1) return carries.back();
    SB_CHECK(size, call.combine_fn.name(),
             ": in a fake mode: what it carries has other strides from step to step; expected a "
             "number of steps that is known, got ",
             call.size().to_string());
    const int64_t left = (*size - steps) % period;
    return left == 0 ? carries.back() : carries[static_cast<size_t>(earlier + left)];
  }
}

void scan_rule(FakeMode& mode, DispatchKeySet, Stack* stack) {
  const control_flow::ScanCall call(*stack);
  std::vector<Tensor> slices;
  const auto step = [&](const std::vector<Tensor>& carry) {
    const std::vector<Tensor> inputs = [&] {
      const ModeGuard active(&mode);
      return call.inputs_at(carry, slice_for_all(call.size()));
    }();
    std::vector<Tensor> results = call_in(mode, call.combine_fn, without_constants(mode, inputs));
    slices = call.take_slices(&results);
    return results;
  };
  std::vector<Tensor> results = last_carry(call, step(call.init), step);
  {
    const ModeGuard active(&mode);
    control_flow::make_apart(&results, call.operands());
  }
  for (Tensor& tensor : stacked(mode, slices, call.size())) results.push_back(std::move(tensor));
  *stack = control_flow::values_of(results);
}

template <void (*rule)(FakeMode&, DispatchKeySet, Stack*)>
void named(FakeMode& mode, DispatchKeySet keys, Stack* stack) {
  try {
    rule(mode, keys, stack);
  } catch (const Error& error) {
    mode.rethrow(error);
  }
}

template <void (*rule)(FakeMode&, DispatchKeySet, Stack*)>
void define_rule(HigherOrderOperator& op) {
  op.impl_mode<FakeMode>(named<rule>).release();
}

[[maybe_unused]] const bool control_flow_registered = [] {
  define_rule<cond_rule>(cond_op());
  define_rule<switch_rule>(switch_op());
  define_rule<while_loop_rule>(while_loop_op());
  define_rule<stack_output_rule>(while_loop_stack_output_op());
  define_rule<map_rule>(map_impl_op());
  define_rule<scan_rule>(scan_op());
  return true;
}();

}  // namespace
}  // namespace sb::internal
