// Operators whose results' elements each come of the elements at the same place.

#include <algorithm>
#include <string_view>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/distributed/parallel/dim_labels.h"
#include "switchboard/distributed/parallel/op_rules.h"

namespace sb {
namespace {

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (op == name) return true;
  return false;
}

// Whether the sum of results is the result of the sum of all tensors together.
bool is_linear(const OpCall& call) {
  const std::string_view op = call.node().op;
  const size_t count = call.uses().size();
  const bool same_dtype =
      count == 1 && call.results().size() == 1 && call.results()[0].dtype == call.uses()[0].dtype;
  if (is_one_of(op, {"aten::alias", "aten::clone", "aten::contiguous", "aten::detach",
                     "aten::dropout", "aten::lift_fresh_copy", "aten::neg"}))
    return count == 1;
  if (is_one_of(op, {"aten::_to_copy", "aten::to"})) return same_dtype;
  if (is_one_of(op, {"aten::add", "aten::sub"})) return count == 2;
  // By a number; an exponent is not one, nor is rounding linear.
  if (op == "aten::mul") return same_dtype;
  if (op == "aten::div") return same_dtype && call.is_none("rounding_mode");
  return false;
}

std::vector<Strategy> elementwise(const OpCall& call, const Choice& choice) {
  if (call.results().empty()) return {};
  // These have overloads of another kind.
  const std::string& overload = call.node().overload;
  if (is_one_of(call.node().op, {"aten::max", "aten::min"}) && overload != "other") return {};
  if (overload == "other" && is_one_of(call.node().op, {"aten::to"})) return {};
  if (call.boolean("train").value_or(false)) return {};
  Dims dims;
  const SizeList& sizes = call.results()[0].sizes;
  const std::vector<int> labels = count_up(sizes.size());
  SizeList all;
  for (const OpCall::Use& use : call.uses()) {
    all = broadcast_sizes(all, use.sizes);
    dims.uses.push_back(broadcast_labels(use.sizes, sizes, labels));
  }
  if (all != sizes) return {};
  for (const OpCall::Result& result : call.results()) {
    if (result.sizes != sizes) return {};
    dims.results.push_back(labels);
  }
  if (is_linear(call))
    dims.linear = call.uses().size() == 1 ? std::vector<size_t>{0} : std::vector<size_t>{0, 1};
  return strategies_of(call, dims, choice);
}

// A check of dtypes; one of sizes has those of the whole.
std::vector<Strategy> assert_metadata(const OpCall& call, const Choice& choice) {
  if (!call.is_none("size") || !call.is_none("stride") || call.uses().size() != 1) return {};
  return strategies_of(call, {{count_up(call.uses()[0].sizes.size())}, {}, {}, {}, {}, {0}, ""},
                       choice);
}

// Those that have no tag pointwise of their own, as in PyTorch.
constexpr std::string_view kOneTensor[] = {
    "_to_copy", "alias",     "clone",           "contiguous",  "detach",
    "dropout",  "full_like", "lift_fresh_copy", "log_sigmoid", "ones_like",
    "relu6",    "selu",      "square",          "to",          "zeros_like"};
constexpr std::string_view kSeveralTensors[] = {"__and__",      "__or__", "__xor__", "copy",
                                                "floor_divide", "max",    "min",     "true_divide"};

}  // namespace

void add_elementwise_rules(OpRules* rules) {
  for (const std::string_view name : kOneTensor)
    rules->emplace("aten::" + std::string(name), OpRule{elementwise, true});
  for (const std::string_view name : kSeveralTensors)
    rules->emplace("aten::" + std::string(name), OpRule{elementwise});
  rules->emplace("aten::_assert_tensor_metadata", OpRule{assert_metadata});
}

const OpRule* pointwise_rule(const OperatorHandle& op) {
  static constexpr OpRule kOfOne{elementwise, true}, kOfSeveral{elementwise};
  if (!op.entry().has_tag(Tag::pointwise) || op.schema().is_mutable()) return nullptr;
  const auto takes_tensor = [](const Argument& a) { return a.type.has_tensor(); };
  return std::ranges::count_if(op.schema().arguments, takes_tensor) == 1 ? &kOfOne : &kOfSeveral;
}

}  // namespace sb
