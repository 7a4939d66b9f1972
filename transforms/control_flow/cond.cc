#include "switchboard/transforms/control_flow/cond.h"

#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/transforms/control_flow/functionalized.h"
#include "switchboard/transforms/control_flow/numbers.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kCondName = "higher_order::cond";

IValue checked_pred(const IValue& pred) {
  if (pred.is_Bool() || pred.is_SymBool()) return pred;
  SB_CHECK_TYPE(pred.is_Tensor(), kCondName, ": pred: expected a bool or a tensor, got ",
                pred.tag_name());
  const Tensor& tensor = pred.unchecked_tensor();
  SB_CHECK(tensor.defined(), kCondName, ": pred: expected a tensor, got an undefined one");
  SB_CHECK(tensor.sym_numel() == 1, kCondName, ": pred: expected one element, got ",
           tensor.describe());
  return pred;
}

void run_cond(DispatchKeySet, Stack* stack) {
  const CondCall call(*stack);
  const bool pred = call.pred.is_Tensor()
                        ? truth_of("higher_order::cond: pred", call.pred.to_tensor())
                        : call.pred.to_sym_bool().guard_bool();
  *stack = values_of((pred ? call.true_fn : call.false_fn)(call.operands));
}

class CondTarget final : public HigherOrderTarget {
 public:
  std::string name() const override { return "cond"; }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    return cond_op()({arguments.at(0), graph_callable(graphs.at(0)), graph_callable(graphs.at(1)),
                      arguments.at(1)});
  }
};

void trace_cond(TracingMode& mode, DispatchKeySet, Stack* stack) {
  if (mode.paused()) return cond_op().call_boxed(stack);
  const CondCall call(*stack);
  const TracedFunctions traced = trace_functions(
      mode,
      {{call.true_fn, "true_graph", call.operands}, {call.false_fn, "false_graph", call.operands}});
  check_branch(call.false_fn.name(), traced.results[1], "true_fn", traced.results[0]);
  std::vector<GraphArg> arguments{mode.argument_of(call.pred), traced.graphs[0], traced.graphs[1],
                                  argument_with_captured(mode, call.operands, traced)};
  run_and_record(mode, cond_op(), stack, std::make_shared<CondTarget>(), std::move(arguments));
}

HigherOrderOperator* make_cond() {
  auto* const op = new HigherOrderOperator("cond", {"pred", "true_fn", "false_fn", "operands"});
  pass_lazy_bits(op);
  op->impl(DispatchKey::CompositeExplicitAutograd, run_cond).release();
  op->impl(DispatchKey::Autograd, autograd_rule(*op)).release();
  op->impl_mode<TracingMode>(trace_cond).release();
  op->impl_functionalize(functionalized(*op, {"true_fn", "false_fn"}, FunctionCalls::OneOfThem),
                         functionalize_routes())
      .release();
  return op;
}

}  // namespace

CondCall::CondCall(const std::vector<IValue>& stack)
    : pred(checked_pred(arguments_of(kCondName, stack, 4)[0])),
      true_fn(kCondName, "true_fn", stack[1]),
      false_fn(kCondName, "false_fn", stack[2]),
      operands(tensors_of(kCondName, "operands", stack[3])) {}

std::vector<Tensor> call_cond(IValue pred, IValue true_fn, IValue false_fn,
                              std::vector<Tensor> operands) {
  return tensors_of(
      kCondName, "results",
      cond_op()({std::move(pred), std::move(true_fn), std::move(false_fn), std::move(operands)}));
}

std::vector<Tensor> call_known_cond(bool pred, IValue true_fn, IValue false_fn,
                                    std::vector<Tensor> operands) {
  const CondCall call({pred, std::move(true_fn), std::move(false_fn), std::move(operands)});
  return (pred ? call.true_fn : call.false_fn)(call.operands);
}

std::vector<Tensor> call_cond_of_sizes(const SymBool& pred, IValue true_fn, IValue false_fn,
                                       std::vector<Tensor> operands) {
  if (pred.is_symbolic())
    return call_cond(pred, std::move(true_fn), std::move(false_fn), std::move(operands));
  return call_known_cond(pred.expect_bool(), std::move(true_fn), std::move(false_fn),
                         std::move(operands));
}

}  // namespace control_flow

using ValueFunction = std::function<std::vector<IValue>(const std::vector<Tensor>&)>;

std::vector<IValue> cond_values(const Tensor& pred, ValueFunction true_fn, ValueFunction false_fn,
                                std::vector<Tensor> operands) {
  const control_flow::ResultKinds kinds;
  return kinds.values(control_flow::call_cond(
      pred, kinds.callable("higher_order::cond: true_fn", std::move(true_fn)),
      kinds.callable("higher_order::cond: false_fn", std::move(false_fn)), std::move(operands)));
}

std::vector<IValue> cond_values(const SymBool& pred, ValueFunction true_fn, ValueFunction false_fn,
                                std::vector<Tensor> operands) {
  const control_flow::ResultKinds kinds;
  IValue on_true = kinds.callable("higher_order::cond: true_fn", true_fn);
  IValue on_false = kinds.callable("higher_order::cond: false_fn", false_fn);
  if (!pred.is_symbolic()) return (pred.expect_bool() ? true_fn : false_fn)(operands);
  return kinds.values(
      control_flow::call_cond(pred, std::move(on_true), std::move(on_false), std::move(operands)));
}

HigherOrderOperator& cond_op() {
  // Never destroyed: calls may come while the program ends.
  static HigherOrderOperator* const op = control_flow::make_cond();
  return *op;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& cond_at_start = cond_op();
}  // namespace

}  // namespace sb
