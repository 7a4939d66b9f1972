#include "switchboard/transforms/higher_order/strict_mode.h"

namespace sb {

const higher_order::BaseHop& strict_mode_hop() {
  static const auto* const hop = new higher_order::BaseHop({.name = "strict_mode",
                                                            .parameters = {"callable", "operands"},
                                                            .function = 0,
                                                            .operands = 1,
                                                            .graph_name = "strict_graph"});
  return *hop;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& strict_mode_at_start = strict_mode_hop();
}  // namespace

}  // namespace sb
