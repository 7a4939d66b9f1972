#include "switchboard/distributed/parallel/splittable.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

bool is_false(const io::Node& node, std::string_view argument) {
  const auto found = std::ranges::find(node.inputs, argument, &io::NamedArgument::name);
  const auto* truth = found == node.inputs.end() ? nullptr : std::get_if<bool>(&found->value);
  return truth && !*truth;
}
bool is_positive(const io::Node& node, std::string_view argument) {
  const auto found = std::ranges::find(node.inputs, argument, &io::NamedArgument::name);
  const auto* number = found == node.inputs.end() ? nullptr : std::get_if<double>(&found->value);
  return number && *number > 0;
}

// Why not; empty if nothing.
std::string reason(const io::Node& node) {
  if (node.op.starts_with("_c10d_functional") || node.op.starts_with("_dtensor::"))
    return "the program knows ranks itself";
  if (node.op == "aten::as_strided" || node.op == "aten::_reshape_alias")
    return "what it gives depends on how its tensor lies in memory";
  if (node.kind != io::TargetKind::Operator) return "";
  const std::optional<OperatorHandle> op = default_dispatcher().find_op(node.target());
  if (!op) return "";  // who runs the program lists what is missing
  if (op->schema().is_mutable())
    return "it writes to a tensor, of which ranks have parts or copies; run_decompositions() makes "
           "a program that writes to none";
  // Attention draws for its dropout alone.
  const bool has_dropout = std::ranges::any_of(
      op->schema().arguments, [](const Argument& a) { return a.name == "dropout_p"; });
  if (has_dropout ? is_positive(node, "dropout_p")
                  : op->entry().has_tag(Tag::nondeterministic_seeded) && !is_false(node, "train"))
    return "it draws random numbers, and each rank would draw others";
  return "";
}

}  // namespace

void check_splittable(const io::Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const io::Node& node = graph.nodes[n];
    const std::string why = reason(node);
    SB_CHECK_NOT_IMPLEMENTED(why.empty(), "tensor parallel: ", graph.place_of(n), ": ",
                             node.target(), ": ", why);
    for (const io::NamedArgument& input : node.inputs)
      if (const auto* inner = std::get_if<io::GraphRef>(&input.value))
        check_splittable(*inner->graph);
  }
}

}  // namespace sb
