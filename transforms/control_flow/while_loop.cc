#include "switchboard/transforms/control_flow/while_loop.h"

#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kWhileLoopName = "higher_order::while_loop";
constexpr std::string_view kCarried = "the carried inputs";

void run_while_loop(DispatchKeySet, Stack* stack) {
  const WhileLoopCall call(*stack);
  std::vector<Tensor> carried = call.carried;
  bool stepped = false;
  for (;;) {
    const std::vector<Tensor> inputs = call.with_additional(carried);
    const std::vector<Tensor> condition = call.cond_fn(inputs);
    call.check_condition(condition);
    if (!truth_of(call.cond_fn.name(), condition[0])) break;
    stepped = true;
    std::vector<Tensor> next = call.body_fn(inputs);
    check_same_metadata(call.body_fn.name(), next, kCarried, carried, Strides::Ignored);
    carried = std::move(next);
  }
  // A later write to a result must not reach an input.
  if (!stepped)
    for (Tensor& tensor : carried) tensor = clone(tensor);
  *stack = values_of(carried);
}

class WhileLoopTarget final : public HigherOrderTarget {
 public:
  std::string name() const override { return "while_loop"; }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    return while_loop_op()({graph_callable(graphs.at(0)), graph_callable(graphs.at(1)),
                            arguments.at(0), arguments.at(1)});
  }
};

void trace_while_loop(TracingMode& mode, DispatchKeySet keys, Stack* stack) {
  if (mode.paused()) return while_loop_op().call_boxed(stack);
  const WhileLoopCall call(*stack);
  const std::vector<Tensor> inputs = call.with_additional(call.carried);
  const TracedFunctions traced =
      trace_functions(mode, {{call.cond_fn, "while_loop_cond_graph", inputs},
                             {call.body_fn, "while_loop_body_graph", inputs}});
  call.check_condition(traced.results[0]);
  if (auto fixed = fix_strides(mode, call.body_fn, call.carried, traced.results[1])) {
    (*stack)[1] = std::move(fixed->function);
    (*stack)[2] = std::move(fixed->carried);
    return trace_while_loop(mode, keys, stack);
  }
  check_same_metadata(call.body_fn.name(), traced.results[1], kCarried, call.carried,
                      Strides::Compared);
  std::vector<GraphArg> arguments{traced.graphs[0], traced.graphs[1],
                                  mode.argument_of(call.carried),
                                  argument_with_captured(mode, call.additional, traced)};
  run_and_record(mode, while_loop_op(), stack, std::make_shared<WhileLoopTarget>(),
                 std::move(arguments));
}

HigherOrderOperator* make_while_loop() {
  auto* const op = new HigherOrderOperator(
      "while_loop", {"cond_fn", "body_fn", "carried_inputs", "additional_inputs"});
  op->impl(DispatchKey::CompositeExplicitAutograd, run_while_loop).release();
  op->impl(DispatchKey::Autograd, autograd_rule(*op)).release();
  op->impl_mode<TracingMode>(trace_while_loop).release();
  op->impl_functionalize(functionalized(*op, {"cond_fn", "body_fn"}), functionalize_routes())
      .release();
  return op;
}

}  // namespace

WhileLoopCall::WhileLoopCall(const std::vector<IValue>& stack)
    : cond_fn(kWhileLoopName, "cond_fn", arguments_of(kWhileLoopName, stack, 4)[0]),
      body_fn(kWhileLoopName, "body_fn", stack[1]),
      carried(tensors_of(kWhileLoopName, "carried_inputs", stack[2])),
      additional(tensors_of(kWhileLoopName, "additional_inputs", stack[3])) {}

std::vector<Tensor> WhileLoopCall::with_additional(std::vector<Tensor> tensors) const {
  tensors.insert(tensors.end(), additional.begin(), additional.end());
  return tensors;
}

void WhileLoopCall::check_condition(const std::vector<Tensor>& results) const {
  SB_CHECK(results.size() == 1, cond_fn.name(), ": expected one result, got ", results.size());
  SB_CHECK(results[0].dtype() == DType::Bool && results[0].dim() == 0, cond_fn.name(),
           ": expected a bool tensor without dimensions, got ", results[0].describe());
}

std::vector<Tensor> call_while_loop(IValue cond_fn, IValue body_fn, std::vector<Tensor> carried,
                                    std::vector<Tensor> additional) {
  return tensors_of(kWhileLoopName, "results",
                    while_loop_op()({std::move(cond_fn), std::move(body_fn), std::move(carried),
                                     std::move(additional)}));
}

}  // namespace control_flow

HigherOrderOperator& while_loop_op() {
  // Never destroyed: calls may come while the program ends.
  static HigherOrderOperator* const op = control_flow::make_while_loop();
  return *op;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& while_loop_at_start = while_loop_op();
}  // namespace

}  // namespace sb
