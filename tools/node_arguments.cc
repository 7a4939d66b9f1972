#include "switchboard/tools/node_arguments.h"

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

// Turns each alternative of io::Argument into the value that the Python call passed.
class ToValue {
 public:
  ToValue(const Environment& environment, Device device)
      : environment_(environment), device_(device) {}

  IValue operator()(io::None) const { return {}; }
  IValue operator()(const io::TensorRef& ref) const { return tensor(ref); }
  IValue operator()(const io::TensorRefs& refs) const {
    std::vector<Tensor> tensors;
    for (const io::TensorRef& ref : refs) tensors.push_back(tensor(ref));
    return tensors;
  }
  IValue operator()(const io::OptionalTensorRefs& refs) const {
    std::vector<std::optional<Tensor>> tensors;
    for (const std::optional<io::TensorRef>& ref : refs)
      tensors.push_back(ref ? std::optional<Tensor>(tensor(*ref)) : std::nullopt);
    return tensors;
  }
  IValue operator()(const std::vector<std::string>& strings) const {
    return std::vector<IValue>(strings.begin(), strings.end());
  }
  IValue operator()(Device) const { return device_; }
  template <class T>
  IValue operator()(const T& value) const {
    return value;
  }

 private:
  const Tensor& tensor(const io::TensorRef& ref) const {
    const auto found = environment_.find(ref.name);
    SB_ASSERT(found != environment_.end());  // the parser lets no name be used before it is defined
    return found->second;
  }

  const Environment& environment_;
  Device device_;
};

// What Python's conversions make of a number before the schema sees it.
IValue adapt_number(IValue value, const Type& type) {
  if (type.is_list()) return value;
  if (type.base == BaseType::Tensor && value.is_scalar()) return wrapped_number(value.to_scalar());
  const bool is_number =
      type.base == BaseType::Int || type.base == BaseType::SymInt || type.base == BaseType::Float;
  if (is_number && value.is_Bool()) return static_cast<int64_t>(value.to_bool());
  return value;
}

bool has_tensor(const IValue& value) {
  bool any = false;
  value.for_each_tensor([&](const Tensor&) { any = true; });
  return any;
}

// PyTorch's exporter always writes the device of a factory function; other writers may not.
void default_to_device(Stack& stack, const FunctionSchema& schema, Device device) {
  const std::optional<size_t> at = schema.find_argument("device");
  if (!at || schema.arguments[*at].type.base != BaseType::Device || !stack[*at].is_None()) return;
  if (std::ranges::none_of(stack, has_tensor)) stack[*at] = device;
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

}  // namespace

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

Stack bind_node(const io::Node& node, const FunctionSchema& schema, const Environment& environment,
                Device device) {
  std::vector<std::pair<std::string, IValue>> named;
  named.reserve(node.inputs.size());
  for (const io::NamedArgument& input : node.inputs) {
    const std::optional<size_t> at = schema.find_argument(input.name);
    SB_ASSERT(at);  // check_node looked
    IValue value = std::visit(ToValue(environment, device), input.value);
    named.emplace_back(input.name, adapt_number(std::move(value), schema.arguments[*at].type));
  }
  Stack stack = bind_arguments(schema, {}, std::move(named));
  default_to_device(stack, schema, device);
  return stack;
}

}  // namespace sb::tools
