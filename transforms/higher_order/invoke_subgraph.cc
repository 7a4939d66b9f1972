#include "switchboard/transforms/higher_order/invoke_subgraph.h"

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

void check_identifier(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[1].is_String() || arguments[1].is_None(),
                "higher_order::invoke_subgraph: identifier: expected a string or None, got ",
                arguments[1].tag_name());
}

void name_backward(std::vector<IValue>* arguments) {
  IValue& identifier = (*arguments)[1];
  if (identifier.is_String()) identifier = str_cat(identifier.to_string_view(), "_backward");
}

}  // namespace

const higher_order::BaseHop& invoke_subgraph_hop() {
  static const auto* const hop =
      new higher_order::BaseHop({.name = "invoke_subgraph",
                                 .parameters = {"subgraph", "identifier", "operands"},
                                 .function = 0,
                                 .operands = 2,
                                 .graph_name = "repeated_subgraph",
                                 .check = check_identifier,
                                 .of_gradient = name_backward,
                                 .shares_graphs = true});
  return *hop;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& invoke_subgraph_at_start = invoke_subgraph_hop();
}  // namespace

}  // namespace sb
