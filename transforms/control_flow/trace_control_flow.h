// How higher-order operators record themselves.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TRACE_CONTROL_FLOW_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TRACE_CONTROL_FLOW_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::control_flow {

// A tensor of the same elements, sizes and strides in memory of its own.
Tensor own_copy(const Tensor& t);
// Copies that share memory where the tensors do: what a function writes to one, it reads from the
// other. A functionalised function that is called `again`, with other tensors, does not.
std::vector<Tensor> copies_to_trace(const std::vector<Tensor>& inputs, bool again = false);

// A function that a graph is made of, the name of that graph, and what it is called with.
struct FunctionToTrace {
  const FunctionArgument& function;
  std::string graph_name;
  std::vector<Tensor> inputs;
  bool again = false;  // the program calls it again and again, with other data
};

// Functions as subgraphs, what they gave, and the tensors that they capture from the traces around
// them: each subgraph has inputs for all of these, in this order, behind those of its function.
struct TracedFunctions {
  std::vector<GraphArg> graphs;
  std::vector<std::vector<Tensor>> results;
  std::vector<std::vector<bool>> written;  // which inputs each writes to
  std::vector<Tensor> captured;
};

// Traces functions, with copies of the inputs: what they write to these, and to what they capture,
// is in their graphs, and undone here. NotImplementedError where the data at hand tell a size in a
// function that is called again.
TracedFunctions trace_functions(TracingMode& mode, const std::vector<FunctionToTrace>& functions);

// check_same_metadata() of what two functions give, one of which runs. What the tensors of a mode
// below must agree in is for its own rule to say.
void check_branch(std::string_view who, const std::vector<Tensor>& got, std::string_view of,
                  const std::vector<Tensor>& expected);

// `tensors` and then what was captured, as an argument of a node.
GraphArg argument_with_captured(TracingMode& mode, std::vector<Tensor> tensors,
                                const TracedFunctions& traced);

// By whom the strides of a loop have been fixed so far.
struct FixedBy {
  std::string function;  // empty: by none
  size_t rounds = 0;
  // Where strides were fixed: results of the function, and what it was first given; else undefined.
  std::vector<Tensor> as_given, as_carried;
  bool lies_alike = true;  // what it gives, after one trip and after more
};
// A graph has strides burnt in, and a function that carries tensors from one trip to the next may
// change theirs. Then both are made contiguous: the carried tensors, in the graph, and the results
// of the function, of which the first are the next carried ones. nullopt where it changes none.
// NotImplementedError where it writes to one of which it changes the strides, and where its graph
// shows, on its own results, that it gives other numbers for tensors that lie otherwise.
// What comes of the call then lies otherwise than in the program: run_and_record() is told by whom.
// What one round makes contiguous may change the strides of another; where as many rounds as there
// are carried tensors do not end that (their sizes differ), it is for other checks to say.
struct FixedStrides {
  IValue function;
  std::vector<Tensor> carried;
  FixedBy by;
};
std::optional<FixedStrides> fix_strides(TracingMode& mode, const FunctionArgument& function,
                                        std::vector<Tensor> carried, const TracedFunctions& traced,
                                        size_t which, std::vector<Tensor> inputs,
                                        const FixedBy& before);

// Gives results of the call, which are carried ones, the strides that they have in the program:
// these decide what is a view of what. `has_trips` says whether the function has run.
void lay_out_as_given(TracingMode& mode, const FixedBy& fixed, bool has_trips, Stack* stack);

// Runs the operator below the mode with the arguments on the stack, and records the call as a node
// with these arguments. The results stand for items of the node. `fixed` is the function whose
// strides were fixed; or empty. `is_open`: only data tell how they lie in the program.
void run_and_record(TracingMode& mode, const HigherOrderOperator& op, Stack* stack,
                    std::shared_ptr<const HigherOrderTarget> target,
                    std::vector<GraphArg> arguments, const std::string& fixed = "",
                    bool is_open = false);

// A graph as a function value.
IValue graph_callable(std::shared_ptr<const Graph> graph);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_TRACE_CONTROL_FLOW_H_
