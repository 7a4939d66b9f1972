#include "switchboard/tools/io/program.h"

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/devices/saving/quote.h"

namespace sb::io {

std::string TensorMeta::describe() const {
  return str_cat(to_string(dtype), "[", absl::StrJoin(sizes, ", "), "]");
}

std::string_view kind_of(const Argument& argument) {
  constexpr std::string_view kKinds[] = {
      "none",   "tensor",        "tensors", "optional_tensors", "int",     "ints",    "float",
      "floats", "bool",          "bools",   "string",           "strings", "complex", "scalar_type",
      "layout", "memory_format", "device"};
  static_assert(std::size(kKinds) == std::variant_size_v<Argument>);
  return kKinds[argument.index()];
}

std::string Node::target() const { return overload.empty() ? op : str_cat(op, ".", overload); }

std::string_view to_string(Dialect dialect) {
  return dialect == Dialect::Training ? "TRAINING" : "ATEN";
}

const TensorMeta& Program::meta_of(std::string_view name) const {
  const auto found = tensor_values.find(to_absl(name));
  SB_CHECK_VALUE(found != tensor_values.end(), origin, ": no tensor_values entry ", quote(name));
  return found->second;
}

std::string Program::place_of(size_t node) const {
  SB_CHECK_INDEX(node < nodes.size(), origin, ": no node ", node, "; there are ", nodes.size());
  const std::string& name = nodes[node].name;
  return str_cat(origin, ": graph_module/graph/nodes[", node, "]",
                 name.empty() ? "" : str_cat(" (", name, ")"));
}

}  // namespace sb::io
