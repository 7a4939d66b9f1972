// How cond, while_loop and map record themselves.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TRACE_CONTROL_FLOW_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TRACE_CONTROL_FLOW_H_

#include <memory>
#include <string>
#include <vector>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::control_flow {

// A function as a subgraph, and what it gave for the inputs that it was traced with.
struct TracedFunction {
  Subgraph graph;
  std::vector<Tensor> results;
};

// Traces a function, with copies of the inputs, so that functions of which only one is to run do
// not change each other's data. Throws RuntimeError, naming the operator that does it, if the
// function writes to its inputs or to a tensor that the graph holds as a constant.
TracedFunction trace_function(TracingMode& mode, const FunctionArgument& function,
                              const std::string& graph_name, const std::vector<Tensor>& inputs);

// Runs the operator below the mode with the arguments on the stack, and records the call as a node
// with these arguments. The results stand for items of the node.
void run_and_record(TracingMode& mode, const HigherOrderOperator& op, Stack* stack,
                    std::shared_ptr<const HigherOrderTarget> target,
                    std::vector<GraphArg> arguments);

// A graph as a function value.
IValue graph_callable(std::shared_ptr<const Graph> graph);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TRACE_CONTROL_FLOW_H_
