#include "switchboard/transforms/control_flow/map.h"

#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/functionalized.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kMapName = "higher_order::map_impl";

void run_map(DispatchKeySet, Stack* stack) {
  const MapCall call(*stack);
  std::vector<std::vector<Tensor>> columns;  // for each result, its slices
  std::vector<Tensor> first;
  const int64_t size = call.xs[0].size(0);
  for (int64_t i = 0; i < size; ++i) {
    const std::vector<Tensor> results = call.f(call.inputs_at(i));
    if (i == 0) {
      first = results;
      columns.resize(results.size());
    } else {
      check_same_metadata(call.f.name(), results, "the first slice", first, Agree::Sizes);
    }
    for (size_t r = 0; r < results.size(); ++r) columns[r].push_back(results[r]);
  }
  std::vector<Tensor> stacked;
  for (const std::vector<Tensor>& slices : columns) stacked.push_back(sb::stack(slices, 0));
  *stack = values_of(stacked);
}

class MapTarget final : public HigherOrderTarget {
 public:
  std::string name() const override { return "map_impl"; }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    return map_impl_op()({graph_callable(graphs.at(0)), arguments.at(0), arguments.at(1)});
  }
};

void trace_map(TracingMode& mode, DispatchKeySet, Stack* stack) {
  if (mode.paused()) return map_impl_op().call_boxed(stack);
  const MapCall call(*stack);
  const TracedFunctions traced =
      trace_functions(mode, {{call.f, "body_graph", call.inputs_at(0), /*again=*/true}});
  std::vector<GraphArg> arguments{traced.graphs[0], mode.argument_of(call.xs),
                                  argument_with_captured(mode, call.args, traced)};
  run_and_record(mode, map_impl_op(), stack, std::make_shared<MapTarget>(), std::move(arguments));
}

HigherOrderOperator* make_map() {
  auto* const op = new HigherOrderOperator("map_impl", {"f", "xs", "pos_args"});
  pass_lazy_bits(op);
  op->impl(DispatchKey::CompositeExplicitAutograd, run_map).release();
  op->impl(DispatchKey::Autograd, autograd_rule(*op)).release();
  op->impl_mode<TracingMode>(trace_map).release();
  op->impl_functionalize(functionalized(*op, {"f"}, FunctionCalls::AgainAndAgain,
                                        [](const std::vector<IValue>&) { return size_t{0}; }),
                         functionalize_routes())
      .release();
  return op;
}

}  // namespace

MapCall::MapCall(const std::vector<IValue>& stack)
    : f(kMapName, "f", arguments_of(kMapName, stack, 3)[0]),
      xs(tensors_of(kMapName, "xs", stack[1])),
      args(tensors_of(kMapName, "pos_args", stack[2])) {
  check_slices(kMapName, xs);
}

std::vector<Tensor> MapCall::inputs_at(int64_t i) const {
  std::vector<Tensor> inputs;
  for (const Tensor& x : xs) inputs.push_back(select(x, 0, i));
  inputs.insert(inputs.end(), args.begin(), args.end());
  return inputs;
}

std::vector<Tensor> call_map(IValue f, std::vector<Tensor> xs, std::vector<Tensor> args) {
  return tensors_of(kMapName, "results",
                    map_impl_op()({std::move(f), std::move(xs), std::move(args)}));
}

}  // namespace control_flow

HigherOrderOperator& map_impl_op() {
  // Never destroyed: calls may come while the program ends.
  static HigherOrderOperator* const op = control_flow::make_map();
  return *op;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& map_at_start = map_impl_op();
}  // namespace

}  // namespace sb
