#include "switchboard/transforms/higher_order/foreach_map.h"

namespace sb {

const higher_order::BaseHop& foreach_map_hop() {
  static const auto* const hop = new higher_order::BaseHop({.name = "foreach_map",
                                                            .parameters = {"subgraph", "operands"},
                                                            .function = 0,
                                                            .operands = 1,
                                                            .graph_name = "foreach_map_graph"});
  return *hop;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& foreach_map_at_start = foreach_map_hop();
}  // namespace

}  // namespace sb
