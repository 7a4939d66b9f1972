#include <map>

#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/checked_call.h"
#include "switchboard/custom_ops/opcheck/tensor_form.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/tests/gradients/sample.h"

namespace sb::test {
namespace {

// What arguments of that name usually are.
const std::map<std::string_view, std::string_view>& by_name() {
  static const std::map<std::string_view, std::string_view> values = {{"dim", "0"},
                                                                      {"dim0", "0"},
                                                                      {"dim1", "1"},
                                                                      {"axis0", "0"},
                                                                      {"axis1", "1"},
                                                                      {"axis", "0"},
                                                                      {"index", "1"},
                                                                      {"start", "0"},
                                                                      {"end", "2"},
                                                                      {"length", "1"},
                                                                      {"step", "1"},
                                                                      {"chunks", "2"},
                                                                      {"split_size", "1"},
                                                                      {"sections", "1"},
                                                                      {"k", "1"},
                                                                      {"n", "1"},
                                                                      {"decimals", "1"},
                                                                      {"diagonal", "0"},
                                                                      {"offset", "0"},
                                                                      {"alpha", "0.7"},
                                                                      {"beta", "0.6"},
                                                                      {"p", "2"},
                                                                      {"lambd", "0.5"},
                                                                      {"negative_slope", "0.1"},
                                                                      {"min", "-0.5"},
                                                                      {"max", "0.5"},
                                                                      {"min_val", "-0.5"},
                                                                      {"max_val", "0.5"},
                                                                      {"threshold", "0.1"},
                                                                      {"value", "0.3"},
                                                                      {"weight", "0.3"},
                                                                      {"exponent", "2.5"},
                                                                      {"eps", "0.001"},
                                                                      {"reduction", "1"},
                                                                      {"delta", "0.4"},
                                                                      {"maxnorm", "0.7"},
                                                                      {"dimension", "0"},
                                                                      {"size", "2"},
                                                                      {"other", "0.7"},
                                                                      {"self", "0.7"},
                                                                      {"scale", "1.5"},
                                                                      {"input_scale", "0.8"},
                                                                      {"is_result", "false"},
                                                                      {"margin", "0.9"},
                                                                      {"rounding_mode", "None"},
                                                                      {"norm_type", "2"},
                                                                      {"num_groups", "1"},
                                                                      {"groups", "1"},
                                                                      {"half_to_float", "false"},
                                                                      {"input_dtype", "float64"},
                                                                      {"keepdim", "false"},
                                                                      {"destination", "1"},
                                                                      {"source", "0"},
                                                                      {"full", "false"},
                                                                      {"repeats", "2"},
                                                                      {"M", "5"},
                                                                      {"dtype", "float64"}};
  return values;
}

// An argument as text; "" where nothing comes to mind.
std::string text_for(const Argument& argument, char kind, const std::string& shape) {
  const TypeCode code = argument.type.code();
  const auto named = by_name().find(argument.name);
  if (base_of(code) == BaseType::Tensor) {
    const TypeCode inner = argument.type.is_optional() ? without_outer(code) : code;
    const bool mask = argument.name == "condition" || argument.name == "mask";
    const std::string tensor = str_cat(std::string(1, mask ? 'b' : kind), shape);
    if (outer_modifier(inner) != TypeModifier::List) return tensor;
    if (outer_modifier(without_outer(inner)) == TypeModifier::Optional) return "";
    return str_cat("{", tensor, ",", tensor, "}");
  }
  if (argument.type.is_optional() && argument.default_value) return "None";
  if (argument.type.is_list()) {
    if (argument.name.find("size") != std::string::npos || argument.name == "shape") return shape;
    return argument.name.find("dim") != std::string::npos ? "[0]" : "";
  }
  if (named != by_name().end()) {
    const bool is_whole = named->second.find('.') == std::string_view::npos;
    if (base_of(code) == BaseType::Int || base_of(code) == BaseType::SymInt)
      return is_whole ? std::string(named->second) : "1";
    if (base_of(code) == BaseType::Float && is_whole && named->second != "None")
      return str_cat(named->second, ".0");
    return std::string(named->second);
  }
  if (argument.type.is_optional()) return "None";
  switch (base_of(code)) {
    case BaseType::Int:
    case BaseType::SymInt:
      return "1";
    case BaseType::Float:
    case BaseType::Scalar:
      return "0.7";
    case BaseType::Bool:
      return "false";
    default:
      return "";
  }
}

std::string line_for(const FunctionSchema& schema, char kind, const std::string& shape) {
  std::string line = schema.name.to_string().substr(schema.name.ns().size() + 2);
  for (const Argument& argument : schema.arguments) {
    const bool is_tensor = argument.type.has_tensor() && !argument.type.is_optional();
    // Numbers with a default keep it, but for those of interest.
    if (argument.default_value && !is_tensor && argument.name != "alpha" && argument.name != "beta")
      continue;
    const std::string value = text_for(argument, kind, shape);
    if (value.empty()) return "";
    line += argument.kwarg_only ? str_cat(" ", argument.name, "=", value) : str_cat(" ", value);
  }
  return line;
}

bool all_finite(const Tensor& t) {
  for (const std::complex<double>& z : internal::numbers_of(t))
    if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) return false;
  return true;
}

// Whether the call works, and has gradients.
bool is_good(const OperatorHandle& op, const std::string& line) {
  try {
    const Sample sample = parse_sample(line);
    const OpCheckOptions options;
    const internal::CheckedCall call{
        op, bind_arguments(op.schema(), sample.positional, sample.keyword), options};
    bool any = false;
    for (const Tensor& t : internal::pure_form(call)(internal::tensors_in(call.arguments))) {
      if (!is_differentiable(t.dtype())) continue;
      if (!all_finite(t)) return false;
      any = any || requires_grad(t);
    }
    return any;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string make_up_sample(const OperatorHandle& op) {
  for (const std::string shape : {"[2,3]", "[3]", "[3,3]", "[2,3,3]", "[1,2,3,3]"}) {
    for (const char kind : {'f', 'p', 'u', 's', 'c'}) {
      if (kind == 's' && shape.size() < 5) continue;
      const std::string line = line_for(op.schema(), kind, shape);
      if (!line.empty() && is_good(op, line)) return line;
    }
  }
  return "";
}

}  // namespace sb::test
