// Operators whose results' elements each come of the elements at the same place.

#include <string_view>

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

constexpr std::string_view kOneTensor[] = {
    "_to_copy",    "abs",         "acos",       "acosh",      "alias",
    "asin",        "asinh",       "atan",       "atanh",      "bitwise_not",
    "ceil",        "celu",        "clone",      "contiguous", "cos",
    "cosh",        "deg2rad",     "detach",     "digamma",    "dropout",
    "elu",         "erf",         "erfc",       "erfinv",     "exp",
    "exp2",        "expm1",       "floor",      "frac",       "full_like",
    "gelu",        "hardsigmoid", "hardswish",  "hardtanh",   "isfinite",
    "isinf",       "isnan",       "leaky_relu", "lgamma",     "lift_fresh_copy",
    "log",         "log10",       "log1p",      "log2",       "log_sigmoid",
    "logical_not", "logit",       "mish",       "nan_to_num", "neg",
    "ones_like",   "rad2deg",     "reciprocal", "relu",       "relu6",
    "round",       "rsqrt",       "selu",       "sgn",        "sigmoid",
    "sign",        "signbit",     "silu",       "sin",        "sinc",
    "sinh",        "softplus",    "sqrt",       "square",     "tan",
    "tanh",        "threshold",   "to",         "trunc",      "zeros_like"};
constexpr std::string_view kSeveralTensors[] = {"__and__",
                                                "__or__",
                                                "__xor__",
                                                "add",
                                                "addcdiv",
                                                "addcmul",
                                                "atan2",
                                                "bitwise_and",
                                                "bitwise_left_shift",
                                                "bitwise_or",
                                                "bitwise_right_shift",
                                                "bitwise_xor",
                                                "clamp",
                                                "clamp_max",
                                                "clamp_min",
                                                "copy",
                                                "copysign",
                                                "div",
                                                "eq",
                                                "floor_divide",
                                                "fmax",
                                                "fmin",
                                                "fmod",
                                                "ge",
                                                "gelu_backward",
                                                "gt",
                                                "hypot",
                                                "le",
                                                "lerp",
                                                "logaddexp",
                                                "logaddexp2",
                                                "logical_and",
                                                "logical_or",
                                                "logical_xor",
                                                "lt",
                                                "masked_fill",
                                                "max",
                                                "maximum",
                                                "min",
                                                "minimum",
                                                "mul",
                                                "ne",
                                                "nextafter",
                                                "pow",
                                                "remainder",
                                                "rsub",
                                                "sigmoid_backward",
                                                "silu_backward",
                                                "sub",
                                                "tanh_backward",
                                                "threshold_backward",
                                                "true_divide",
                                                "where",
                                                "xlogy"};

}  // namespace

void add_elementwise_rules(OpRules* rules) {
  for (const std::string_view name : kOneTensor)
    rules->emplace("aten::" + std::string(name), OpRule{elementwise, true});
  for (const std::string_view name : kSeveralTensors)
    rules->emplace("aten::" + std::string(name), OpRule{elementwise});
  rules->emplace("aten::_assert_tensor_metadata", OpRule{assert_metadata});
}

}  // namespace sb
