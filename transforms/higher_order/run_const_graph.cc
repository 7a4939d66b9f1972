#include "switchboard/transforms/higher_order/run_const_graph.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"

namespace sb {

const higher_order::BaseHop& run_const_graph_hop() {
  static const auto* const hop = new higher_order::BaseHop({.name = "run_const_graph",
                                                            .parameters = {"graph", "args"},
                                                            .function = 0,
                                                            .operands = 1,
                                                            .graph_name = "_const_graph"});
  return *hop;
}

std::vector<Tensor> run_const_graph(std::shared_ptr<const Graph> graph, std::vector<Tensor> args) {
  SB_CHECK_VALUE(graph, "higher_order::run_const_graph: graph: expected a graph, got null");
  return run_const_graph_hop()(control_flow::graph_callable(std::move(graph)), std::move(args));
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& run_const_graph_at_start = run_const_graph_hop();
}  // namespace

}  // namespace sb
