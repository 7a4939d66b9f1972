#include "switchboard/tools/node_call.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/saving/quote.h"

namespace sb::tools {
namespace {

// As PyTorch's argument parser makes of a Python number where a Tensor belongs.
Tensor wrapped_number(const Scalar& number) {
  Tensor tensor = empty_on(DeviceType::CPU, {}, number.kind());
  switch (number.kind()) {
    case DType::Bool:
      *tensor.data<bool>() = number.to<bool>();
      break;
    case DType::Int64:
      *tensor.data<int64_t>() = number.to<int64_t>();
      break;
    case DType::Float64:
      *tensor.data<double>() = number.to<double>();
      break;
    default:
      *tensor.data<std::complex<double>>() = number.to<std::complex<double>>();
  }
  tensor.impl()->set_wrapped_number(true);
  return tensor;
}

// Python's True is a number where the schema wants one.
bool is_number(const Type& type) {
  return !type.is_list() && (type.base == BaseType::Int || type.base == BaseType::SymInt ||
                             type.base == BaseType::Float);
}

void check_output(const io::NodeOutput& output, const Return& declared, size_t index,
                  const FunctionSchema& schema) {
  const bool is_tensor = declared.type.has_tensor();
  const bool fits =
      std::holds_alternative<io::None>(output) ||
      (is_tensor && declared.type.is_list() == std::holds_alternative<io::TensorRefs>(output));
  SB_CHECK_TYPE(fits, schema.name.to_string(), ": output ", index, ": the schema returns ",
                declared.type.to_string(), ", the node names ",
                std::holds_alternative<io::TensorRefs>(output) ? "a list of tensors" : "a tensor");
}

void check_node(const io::Node& node, const FunctionSchema& schema) {
  const std::string op = schema.name.to_string();
  for (const io::NamedArgument& input : node.inputs)
    SB_CHECK_TYPE(schema.find_argument(input.name), op, ": no argument ", io::quote(input.name),
                  "; the schema is ", schema.to_string());
  for (const Argument& argument : schema.arguments) {
    const bool given = std::ranges::find(node.inputs, argument.name, &io::NamedArgument::name) !=
                       node.inputs.end();
    SB_CHECK_TYPE(given || argument.default_value, op, ": argument '", argument.name,
                  "' is missing; the schema is ", schema.to_string());
  }
  SB_CHECK_TYPE(node.outputs.size() == schema.returns.size(), op, ": the node names ",
                node.outputs.size(), " outputs, the schema has ", schema.returns.size());
  for (size_t i = 0; i < node.outputs.size(); ++i)
    check_output(node.outputs[i], schema.returns[i], i, schema);
}

bool has_tensor(const IValue& value) {
  bool any = false;
  value.for_each_tensor([&](const Tensor&) { any = true; });
  return any;
}

}  // namespace

NodeCall::NodeCall(const io::Node& node, OperatorHandle op, const Places& places) : op_(op) {
  const FunctionSchema& schema = op_.schema();
  check_node(node, schema);
  std::vector<std::pair<std::string, IValue>> named;
  named.reserve(node.inputs.size());
  for (const io::NamedArgument& input : node.inputs) {
    const size_t argument = *schema.find_argument(input.name);
    named.emplace_back(input.name, value_of(input.value, argument, places));
  }
  bound_ = bind_arguments(schema, {}, std::move(named));
  default_to_device();
}

// The value that the Python call passed; an undefined tensor stands for each of a run.
IValue NodeCall::value_of(const io::Argument& given, size_t argument, const Places& places) {
  // The parser lets no name be used before it is defined.
  const auto place_of = [&](const io::TensorRef& ref) { return places.at(ref.name); };
  const auto visitor = [&]<class T>(const T& value) -> IValue {
    if constexpr (std::is_same_v<T, io::None>) {
      return {};
    } else if constexpr (std::is_same_v<T, io::TensorRef>) {
      tensors_.push_back({argument, place_of(value)});
      return Tensor();
    } else if constexpr (std::is_same_v<T, io::TensorRefs>) {
      Elements elements;
      for (const io::TensorRef& ref : value) elements.push_back(place_of(ref));
      remember_list(argument, std::move(elements));
      return std::vector<Tensor>(value.size());
    } else if constexpr (std::is_same_v<T, io::OptionalTensorRefs>) {
      Elements elements;
      for (const std::optional<io::TensorRef>& ref : value)
        elements.push_back(ref ? std::optional<size_t>(place_of(*ref)) : std::nullopt);
      std::vector<std::optional<Tensor>> tensors;
      for (const auto& place : elements)
        tensors.push_back(place ? std::optional<Tensor>(Tensor()) : std::nullopt);
      remember_list(argument, std::move(elements));
      return tensors;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      return std::vector<IValue>(value.begin(), value.end());
    } else {
      if (std::is_same_v<T, Device>) devices_.push_back(argument);
      return value;
    }
  };
  IValue value = std::visit(visitor, given);
  const Type& type = op_.schema().arguments[argument].type;
  if (type.base == BaseType::Tensor && !type.is_list() && value.is_scalar()) {
    numbers_.push_back({argument, value.to_scalar()});
    return Tensor();
  }
  if (is_number(type) && value.is_Bool()) return static_cast<int64_t>(value.to_bool());
  return value;
}

// A list of no tensor is bound for all runs, as a list of whatever the schema says.
void NodeCall::remember_list(size_t argument, Elements elements) {
  const auto is_tensor = [](const std::optional<size_t>& place) { return place.has_value(); };
  if (std::ranges::any_of(elements, is_tensor)) lists_.push_back({argument, std::move(elements)});
}

// PyTorch's exporter always writes the device of a factory function; other writers may not.
void NodeCall::default_to_device() {
  const FunctionSchema& schema = op_.schema();
  const std::optional<size_t> at = schema.find_argument("device");
  if (!at || schema.arguments[*at].type.base != BaseType::Device || !bound_[*at].is_None()) return;
  if (std::ranges::none_of(bound_, has_tensor)) devices_.push_back(*at);
}

Stack NodeCall::arguments(absl::Span<const Tensor> values, Device device) const {
  Stack stack;
  // Room for the results as well.
  stack.reserve(std::max(bound_.size(), op_.schema().returns.size()));
  stack.assign(bound_.begin(), bound_.end());
  for (const TensorArgument& tensor : tensors_) stack[tensor.argument] = values[tensor.place];
  for (const NumberArgument& number : numbers_)
    stack[number.argument] = wrapped_number(number.value);
  for (const ListArgument& list : lists_) {
    if (bound_[list.argument].is_TensorList()) {
      std::vector<Tensor> tensors;
      tensors.reserve(list.places.size());
      for (const std::optional<size_t>& place : list.places) tensors.push_back(values[*place]);
      stack[list.argument] = std::move(tensors);
    } else {
      std::vector<std::optional<Tensor>> tensors;
      tensors.reserve(list.places.size());
      for (const std::optional<size_t>& place : list.places)
        tensors.push_back(place ? std::optional<Tensor>(values[*place]) : std::nullopt);
      stack[list.argument] = std::move(tensors);
    }
  }
  for (const size_t argument : devices_) stack[argument] = device;
  return stack;
}

}  // namespace sb::tools
