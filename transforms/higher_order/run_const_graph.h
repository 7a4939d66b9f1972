// A graph of what does not change from run to run.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_RUN_CONST_GRAPH_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_RUN_CONST_GRAPH_H_

#include <memory>
#include <vector>

#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::run_const_graph(graph, args)`: a Callable and a list of tensors.
const higher_order::BaseHop& run_const_graph_hop();

// The results of the graph, which a graph that calls it may compute once and keep. As
// `run_const_graph`, but for gradients, which pass; PyTorch's backward says that there are none.
std::vector<Tensor> run_const_graph(std::shared_ptr<const Graph> graph, std::vector<Tensor> args);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_RUN_CONST_GRAPH_H_
