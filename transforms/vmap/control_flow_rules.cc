// Higher-order operators that have a rule for vmap: cond, map and scan; and what is composed of
// these. The others are refused by name, where they are called.

#include <optional>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/level.h"

namespace sb::batching {
namespace {

using control_flow::FunctionArgument;
using Tensors = std::vector<Tensor>;

// All examples of a tensor: of one that is the same for all, copies.
Tensor own_examples(const Tensor& tensor, const Level& level) {
  const Tensor all = all_examples(tensor, level);
  return batched_impl(tensor, level) ? all : clone(all, MemoryFormat::Contiguous);
}

// The tensors that a function takes, as values, and which of them are batched.
struct Operands {
  Operands(const Tensors& tensors, const Level& level) {
    for (const Tensor& t : tensors) {
      const BatchedTensorImpl* const impl = batched_impl(t, level);
      values.push_back(impl ? impl->value() : t);
      batched.push_back(impl != nullptr);
    }
  }
  void append(const Operands& more) {
    values.insert(values.end(), more.values.begin(), more.values.end());
    batched.insert(batched.end(), more.batched.begin(), more.batched.end());
  }

  Tensors values;
  std::vector<bool> batched;
};

// f as a function of values, all of whose results have a batch in front. It may be called after the
// level is over, when a gradient computes it again.
IValue on_values(const FunctionArgument& f, Level* level, std::vector<bool> batched) {
  return Callable::make([f, level = IntrusivePtr<Level>::share(level),
                         batched = std::move(batched)](std::vector<IValue> values) {
    std::optional<RunningLevel> again;
    if (level->has_ended()) again.emplace(level->size(), level->randomness());
    Level& here = again ? **again : *level;
    const FunctionTransformGuard guard(&here);
    Tensors arguments;
    for (size_t i = 0; i < values.size(); ++i) {
      const Tensor& value = values[i].to_tensor();
      arguments.push_back(batched.at(i) ? make_batched(value, &here) : value);
    }
    Tensors results = f(arguments);
    const internal::LoweredTransform lowered;
    for (Tensor& result : results) result = own_examples(result, here);
    return control_flow::values_of(results);
  });
}

Tensors moved(const Operands& operands) {
  Tensors moved = operands.values;
  for (size_t i = 0; i < moved.size(); ++i)
    if (operands.batched[i]) moved[i] = movedim_int(moved[i], 0, 1);
  return moved;
}

// Puts the results of an operator on values in the place of its arguments; those from number
// `stacked` on have the slices in front of the batch.
void put_results(Tensors values, size_t stacked, Level* level, Stack* stack) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = make_batched(i < stacked ? values[i] : movedim_int(values[i], 0, 1), level);
  *stack = control_flow::values_of(values);
}

// Each example may go another way: both functions run, on all.
Tensors both_ways(const control_flow::CondCall& call, const Tensor& pred, Level* level) {
  const FunctionTransformGuard guard(level);
  const BothWays both(level);
  const Tensors if_true = call.true_fn(call.operands), if_false = call.false_fn(call.operands);
  control_flow::check_same_metadata(call.false_fn.name(), if_false, "true_fn", if_true,
                                    control_flow::Agree::Sizes);
  const Tensor holds = ne_Scalar(reshape(pred, {}), 0);
  Tensors results;
  for (size_t i = 0; i < if_true.size(); ++i)
    results.push_back(where(holds, if_true[i], if_false[i]));
  return results;
}

void cond_rule(FunctionTransform& transform, DispatchKeySet, Stack* stack) {
  Level* const level = static_cast<Level*>(&transform);
  const control_flow::CondCall call(*stack);
  if (call.pred.is_Tensor() && batched_impl(call.pred.to_tensor(), *level)) {
    *stack = control_flow::values_of(both_ways(call, call.pred.to_tensor(), level));
    return;
  }
  const Operands operands(call.operands, *level);
  const Tensors results =
      control_flow::call_cond(call.pred, on_values(call.true_fn, level, operands.batched),
                              on_values(call.false_fn, level, operands.batched), operands.values);
  put_results(results, results.size(), level, stack);
}

void map_rule(FunctionTransform& transform, DispatchKeySet, Stack* stack) {
  Level* const level = static_cast<Level*>(&transform);
  const control_flow::MapCall call(*stack);
  const Operands xs(call.xs, *level), args(call.args, *level);
  Operands taken = xs;
  taken.append(args);
  put_results(
      control_flow::call_map(on_values(call.f, level, taken.batched), moved(xs), args.values), 0,
      level, stack);
}

void scan_rule(FunctionTransform& transform, DispatchKeySet, Stack* stack) {
  Level* const level = static_cast<Level*>(&transform);
  const control_flow::ScanCall call(*stack);
  // What is carried is batched after the first step, so it is from the start.
  Operands taken(call.init, *level);
  for (size_t i = 0; i < call.init.size(); ++i) {
    taken.values[i] = own_examples(call.init[i], *level);
    taken.batched[i] = true;
  }
  const Tensors init = taken.values;
  const Operands xs(call.xs, *level), additional(call.additional, *level);
  taken.append(xs);
  taken.append(additional);
  put_results(control_flow::call_scan(on_values(call.combine_fn, level, taken.batched), init,
                                      moved(xs), additional.values, /*reverse=*/false),
              init.size(), level, stack);
}

[[maybe_unused]] const bool registered = [] {
  cond_op().impl_transform(TransformType::Vmap, cond_rule).release();
  map_impl_op().impl_transform(TransformType::Vmap, map_rule).release();
  scan_op().impl_transform(TransformType::Vmap, scan_rule).release();
  return true;
}();

}  // namespace
}  // namespace sb::batching
