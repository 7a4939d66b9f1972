#include "switchboard/transforms/control_flow/switch.h"

#include <algorithm>
#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/transforms/control_flow/functionalized.h"
#include "switchboard/transforms/control_flow/numbers.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kSwitchName = "higher_order::switch";

IValue checked_index(const IValue& index) {
  if (index.is_Int() || index.is_SymInt()) return index;
  SB_CHECK_TYPE(index.is_Tensor(), kSwitchName, ": index: expected an integer or a tensor, got ",
                index.tag_name());
  const Tensor& tensor = index.unchecked_tensor();
  SB_CHECK(tensor.defined(), kSwitchName, ": index: expected a tensor, got an undefined one");
  SB_CHECK(SymBool(is_integral(tensor.dtype()) && tensor.dtype() != DType::Bool) &
               (tensor.sym_numel() == 1),
           kSwitchName, ": index: expected one element of an integer dtype, got ",
           tensor.describe());
  return index;
}

void run_switch(DispatchKeySet, Stack* stack) {
  const SwitchCall call(*stack);
  const int64_t index = call.index.is_Tensor() ? integer_of("higher_order::switch: index",
                                                            call.index.unchecked_tensor())
                                               : call.index.to_int();
  SB_CHECK_INDEX(index >= 0 && static_cast<size_t>(index) < call.branches.size(), kSwitchName,
                 ": index: ", index, " is out of range: there are ", call.branches.size(),
                 " branches");
  *stack = values_of(call.branches[static_cast<size_t>(index)](call.operands));
}

class SwitchTarget final : public HigherOrderTarget {
 public:
  std::string name() const override { return "switch"; }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    std::vector<IValue> branches;
    for (const auto& graph : graphs) branches.push_back(graph_callable(graph));
    return switch_op()({arguments.at(0), std::move(branches), arguments.at(1)});
  }
};

void trace_switch(TracingMode& mode, DispatchKeySet, Stack* stack) {
  if (mode.paused()) return switch_op().call_boxed(stack);
  const SwitchCall call(*stack);
  std::vector<FunctionToTrace> functions;
  for (size_t i = 0; i < call.branches.size(); ++i)
    functions.push_back({call.branches[i], str_cat("branch", i, "_graph"), call.operands});
  const TracedFunctions traced = trace_functions(mode, functions);
  for (size_t i = 1; i < call.branches.size(); ++i)
    check_branch(call.branches[i].name(), traced.results[i], "branch 0", traced.results[0]);
  std::vector<GraphArg> arguments{mode.argument_of(call.index)};
  arguments.insert(arguments.end(), traced.graphs.begin(), traced.graphs.end());
  arguments.push_back(argument_with_captured(mode, call.operands, traced));
  run_and_record(mode, switch_op(), stack, std::make_shared<SwitchTarget>(), std::move(arguments));
}

HigherOrderOperator* make_switch() {
  auto* const op = new HigherOrderOperator("switch", {"index", "branches", "operands"});
  pass_lazy_bits(op);
  op->impl(DispatchKey::CompositeExplicitAutograd, run_switch).release();
  op->impl(DispatchKey::Autograd, autograd_rule(*op)).release();
  op->impl_mode<TracingMode>(trace_switch).release();
  op->impl_functionalize(functionalized(*op, {"branch"}, FunctionCalls::OneOfThem),
                         functionalize_routes())
      .release();
  return op;
}

// What needs no call of the operator.
void check_branches(const std::vector<IValue>& branches) {
  SB_CHECK(!branches.empty(), kSwitchName, ": branches: expected at least one, got none");
}
std::vector<Tensor> call_branch(size_t which, std::vector<IValue> branches,
                                std::vector<Tensor> operands) {
  const SwitchCall call({IValue(int64_t{0}), std::move(branches), std::move(operands)});
  return call.branches[which](call.operands);
}

}  // namespace

SwitchCall::SwitchCall(const std::vector<IValue>& stack)
    : index(checked_index(arguments_of(kSwitchName, stack, 3)[0])),
      operands(tensors_of(kSwitchName, "operands", stack[2])) {
  SB_CHECK_TYPE(stack[1].is_List(), kSwitchName, ": branches: expected a list of Callables, got ",
                stack[1].tag_name());
  check_branches(stack[1].to_list());
  for (const IValue& branch : stack[1].to_list())
    branches.emplace_back(kSwitchName, str_cat("branch ", branches.size()), branch);
}

std::vector<Tensor> call_switch(IValue index, std::vector<IValue> branches,
                                std::vector<Tensor> operands) {
  return tensors_of(kSwitchName, "results",
                    switch_op()({std::move(index), std::move(branches), std::move(operands)}));
}

}  // namespace control_flow

std::vector<IValue> switch_values(const Tensor& index, ValueBranches branches,
                                  std::vector<Tensor> operands) {
  const control_flow::ResultKinds kinds;
  std::vector<IValue> callables;
  for (size_t i = 0; i < branches.size(); ++i) {
    callables.push_back(
        kinds.callable(str_cat("higher_order::switch: branch ", i), std::move(branches[i])));
  }
  return kinds.values(switch_on(index, std::move(callables), std::move(operands)));
}

HigherOrderOperator& switch_op() {
  // Never destroyed: calls may come while the program ends.
  static HigherOrderOperator* const op = control_flow::make_switch();
  return *op;
}

std::vector<Tensor> switch_on(const Tensor& index, std::vector<IValue> branches,
                              std::vector<Tensor> operands) {
  control_flow::check_branches(branches);
  control_flow::checked_index(index);
  if (branches.size() == 1)
    return control_flow::call_branch(0, std::move(branches), std::move(operands));
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  return control_flow::call_switch(clamp(index, 0, last), std::move(branches), std::move(operands));
}

std::vector<Tensor> switch_on(int64_t index, std::vector<IValue> branches,
                              std::vector<Tensor> operands) {
  control_flow::check_branches(branches);
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  return control_flow::call_branch(static_cast<size_t>(std::clamp(index, int64_t{0}, last)),
                                   std::move(branches), std::move(operands));
}

std::vector<Tensor> switch_on(const SymInt& index, std::vector<IValue> branches,
                              std::vector<Tensor> operands) {
  if (!index.is_symbolic())
    return switch_on(index.expect_int(), std::move(branches), std::move(operands));
  control_flow::check_branches(branches);
  if (branches.size() == 1)
    return control_flow::call_branch(0, std::move(branches), std::move(operands));
  const SymInt last(static_cast<int64_t>(branches.size()) - 1);
  return control_flow::call_switch(sym_max(0, sym_min(index, last)), std::move(branches),
                                   std::move(operands));
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& switch_at_start = switch_op();
}  // namespace

}  // namespace sb
