#include "switchboard/transforms/control_flow/while_loop.h"

#include <memory>
#include <optional>
#include <typeinfo>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/transforms/control_flow/functionalized.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kWhileLoopName = "higher_order::while_loop";
constexpr std::string_view kCarried = "the carried inputs";

constexpr std::string_view kStackOutputName = "higher_order::while_loop_stack_output";

// Calls trip(carried) after each trip; gives what is carried in the end.
template <class F>
std::vector<Tensor> run_loop(const WhileLoopCall& call, F trip) {
  std::vector<Tensor> carried = call.carried;
  for (;;) {
    const std::vector<Tensor> inputs = call.with_additional(carried);
    const std::vector<Tensor> condition = call.cond_fn(inputs);
    call.check_condition(condition);
    if (!truth_of(call.cond_fn.name(), condition[0])) return carried;
    std::vector<Tensor> next = call.body_fn(inputs);
    check_same_metadata(call.body_fn.name(), next, kCarried, carried, Agree::DTypes);
    carried = std::move(next);
    trip(carried);
  }
}

void run_while_loop(DispatchKeySet, Stack* stack) {
  const WhileLoopCall call(*stack);
  std::vector<Tensor> carried = run_loop(call, [](const std::vector<Tensor>&) {});
  make_apart(&carried, call.with_additional(call.carried));
  *stack = values_of(carried);
}

void run_stack_output(DispatchKeySet, Stack* stack) {
  const WhileLoopCall call(*stack, kStackOutputName);
  std::vector<std::vector<Tensor>> columns(call.carried.size());
  const auto add_row = [&](const std::vector<Tensor>& carried) {
    for (size_t i = 0; i < carried.size(); ++i) columns[i].push_back(carried[i]);
  };
  std::vector<Tensor> results = run_loop(call, add_row);
  if (!columns.empty() && columns[0].empty()) add_row(results);
  if (call.with_last)
    make_apart(&results, call.with_additional(call.carried));
  else
    results.clear();
  for (const std::vector<Tensor>& rows : columns) {
    for (const Tensor& row : rows)
      SB_CHECK(row.is_symbolic() || row.sizes() == rows[0].sizes(), call.body_fn.name(),
               ": result ", results.size() % call.carried.size(), ": expected ", rows[0].describe(),
               ", as of the first trip, got ", row.describe(),
               "; what the trips give is kept in one tensor, as for gradients in a graph");
    results.push_back(sb::stack(rows, 0));
  }
  *stack = values_of(results);
}

// Both operators are traced alike.
class WhileLoopTarget final : public HigherOrderTarget {
 public:
  WhileLoopTarget(const HigherOrderOperator& op, bool with_last) : op_(op), with_last_(with_last) {}
  std::string name() const override { return op_.opname(); }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    std::vector<IValue> given{graph_callable(graphs.at(0)), graph_callable(graphs.at(1)),
                              arguments.at(0), arguments.at(1)};
    if (with_last_) given.emplace_back(true);
    return op_(std::move(given));
  }

 private:
  const HigherOrderOperator& op_;
  bool with_last_;
};

// Whether a condition of a loop is true; nullopt where its data are not there.
std::optional<bool> find_truth(const Tensor& condition) {
  const bool has_data = condition.is_cpu() && typeid(*condition.impl()) == typeid(TensorImpl) &&
                        !condition.impl()->mode_data();
  const NoModesGuard no_modes;
  const internal::BelowRecordingGuard below;
  return has_data ? std::optional(item(condition).to<bool>()) : std::nullopt;
}

void trace_loop(const HigherOrderOperator& op, TracingMode& mode, const FixedBy& fixed,
                Stack* stack) {
  if (mode.paused()) return op.call_boxed(stack);
  const WhileLoopCall call(*stack, op.name());
  const std::vector<Tensor> inputs = call.with_additional(call.carried);
  const TracedFunctions traced =
      trace_functions(mode, {{call.cond_fn, "while_loop_cond_graph", inputs, /*again=*/true},
                             {call.body_fn, "while_loop_body_graph", inputs, /*again=*/true}});
  call.check_condition(traced.results[0]);
  if (auto dense = fix_strides(mode, call.body_fn, call.carried, traced, 1, inputs, fixed)) {
    (*stack)[1] = std::move(dense->function);
    (*stack)[2] = std::move(dense->carried);
    return trace_loop(op, mode, dense->by, stack);
  }
  check_same_metadata(call.body_fn.name(), traced.results[1], kCarried, call.carried,
                      Agree::GraphStrides);
  std::vector<GraphArg> arguments{traced.graphs[0], traced.graphs[1],
                                  mode.argument_of(call.carried),
                                  argument_with_captured(mode, call.additional, traced)};
  const std::optional<bool> has_trips = find_truth(traced.results[0][0]);
  run_and_record(mode, op, stack, std::make_shared<WhileLoopTarget>(op, call.with_last),
                 std::move(arguments), fixed.function,
                 /*is_open=*/!has_trips || (*has_trips && !fixed.lies_alike));
  lay_out_as_given(mode, fixed, has_trips.value_or(true), stack);
}

HigherOrderOperator* make_loop(std::string name, void (*run)(DispatchKeySet, Stack*),
                               std::function<size_t(const std::vector<IValue>&)> copied) {
  auto* const op = new HigherOrderOperator(
      std::move(name), {"cond_fn", "body_fn", "carried_inputs", "additional_inputs"});
  pass_lazy_bits(op);
  op->impl(DispatchKey::CompositeExplicitAutograd, run).release();
  op->impl(DispatchKey::Autograd, autograd_rule(*op)).release();
  op->impl_mode<TracingMode>([op](TracingMode& mode, DispatchKeySet, Stack* stack) {
      trace_loop(*op, mode, {}, stack);
    }).release();
  op->impl_functionalize(functionalized(*op, {"cond_fn", "body_fn"}, FunctionCalls::AgainAndAgain,
                                        std::move(copied)),
                         functionalize_routes())
      .release();
  return op;
}

}  // namespace

WhileLoopCall::WhileLoopCall(const std::vector<IValue>& stack, std::string_view op)
    : cond_fn(op, "cond_fn", arguments_of(op, stack, stack.size() == 5 ? 5 : 4)[0]),
      body_fn(op, "body_fn", stack[1]),
      carried(tensors_of(op, "carried_inputs", stack[2])),
      additional(tensors_of(op, "additional_inputs", stack[3])),
      with_last(stack.size() == 5 && stack[4].is_Bool() && stack[4].to_bool()) {
  SB_CHECK_TYPE(stack.size() == 4 || op == kStackOutputName, op, ": expected 4 arguments, got ",
                stack.size());
  SB_CHECK_TYPE(stack.size() == 4 || stack[4].is_Bool(), op, ": with_last: expected a bool, got ",
                stack.back().tag_name());
}

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
  static HigherOrderOperator* const op =
      control_flow::make_loop("while_loop", control_flow::run_while_loop, nullptr);
  return *op;
}

HigherOrderOperator& while_loop_stack_output_op() {
  static HigherOrderOperator* const op =
      control_flow::make_loop("while_loop_stack_output", control_flow::run_stack_output,
                              [](const std::vector<IValue>&) { return size_t{0}; });
  return *op;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& while_loop_at_start = while_loop_op();
[[maybe_unused]] const HigherOrderOperator& stack_output_at_start = while_loop_stack_output_op();
}  // namespace

}  // namespace sb
