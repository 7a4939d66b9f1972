#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/ops/autocast/autocast_policy.h"
#include "switchboard/ops/cpu/elementwise.h"

namespace sb::io {
namespace {

// Whether a node may name such an output for a result of that type.
bool fits(const Argument& output, const Type& type) {
  if (std::holds_alternative<None>(output)) return true;
  if (type.has_tensor() && type.is_list())
    return std::holds_alternative<TensorRefs>(output) ||
           std::holds_alternative<OptionalTensorRefs>(output);
  if (type.has_tensor()) return std::holds_alternative<TensorRef>(output);
  const bool of_number = type.base == BaseType::Int || type.base == BaseType::SymInt ||
                         type.base == BaseType::Float || type.base == BaseType::Bool ||
                         type.base == BaseType::Scalar;
  if (!of_number) return false;
  if (type.is_list()) return std::holds_alternative<SymInts>(output);
  // A number that no node uses may be written as what it was.
  return std::holds_alternative<SymRef>(output) || std::holds_alternative<int64_t>(output) ||
         std::holds_alternative<double>(output) || std::holds_alternative<bool>(output);
}

void check_node(const Node& node, const FunctionSchema& schema) {
  const std::string op = schema.name.to_string();
  for (const NamedArgument& input : node.inputs)
    SB_CHECK_TYPE(schema.find_argument(input.name), op, ": no argument ", quote(input.name),
                  "; the schema is ", schema.to_string());
  for (const sb::Argument& argument : schema.arguments) {
    const bool given =
        std::ranges::find(node.inputs, argument.name, &NamedArgument::name) != node.inputs.end();
    SB_CHECK_TYPE(given || argument.default_value, op, ": argument '", argument.name,
                  "' is missing; the schema is ", schema.to_string());
  }
  SB_CHECK_TYPE(node.outputs.size() == schema.returns.size(), op, ": the node names ",
                node.outputs.size(), " outputs, the schema has ", schema.returns.size());
  for (size_t i = 0; i < node.outputs.size(); ++i)
    SB_CHECK_TYPE(fits(node.outputs[i], schema.returns[i].type), op, ": output ", i,
                  ": the schema returns ", schema.returns[i].type.to_string(),
                  ", the node names a ", kind_of(node.outputs[i]));
}

bool has_tensor(const IValue& value) {
  bool any = false;
  value.for_each_tensor([&](const Tensor&) { any = true; });
  return any;
}

class OperatorStep : public NodeStep {
 public:
  OperatorStep(const Node& node, OperatorHandle op, const Places& places)
      : op_(op), policy_(autocast_policy(op.schema().name.name)) {
    const FunctionSchema& schema = op_.schema();
    check_node(node, schema);
    std::vector<std::pair<std::string, IValue>> named;
    named.reserve(node.inputs.size());
    for (const NamedArgument& input : node.inputs) {
      const size_t argument = *schema.find_argument(input.name);
      named.emplace_back(input.name, value_of(input, argument, places));
    }
    bound_ = bind_arguments(schema, {}, std::move(named));
    default_to_device();
  }

  Stack run(absl::Span<const IValue> values, const RunContext& context) const override {
    Stack stack = arguments(values, context.device);
    if (context.autocast) cast_arguments(policy_, *context.autocast, &stack);
    op_.call_boxed(&stack);
    return stack;
  }

 private:
  using Elements = std::vector<std::optional<size_t>>;
  // An argument that is a value of the run.
  struct ValueArgument {
    size_t argument;
    size_t place;
    bool to_tensor;  // a number where the schema wants a tensor
  };
  struct NumberArgument {
    size_t argument;
    Scalar value;
  };
  struct TensorsArgument {
    size_t argument;
    Elements places;
  };
  // A list of numbers of which some are values of the run.
  struct SymIntsArgument {
    size_t argument;
    SymInts numbers;
    Elements places;  // nothing for a plain one
  };

  // The value that the Python call passed, with a stand-in for each of a run.
  IValue value_of(const NamedArgument& given, size_t argument, const Places& places) {
    const Type& type = op_.schema().arguments[argument].type;
    // The parser lets no name be used before it is defined.
    const auto place_of = [&](const std::string& name) { return places.at(name); };
    const auto visitor = [&]<class T>(const T& value) -> IValue {
      if constexpr (std::is_same_v<T, None>) {
        return {};
      } else if constexpr (std::is_same_v<T, TensorRef>) {
        values_.push_back({argument, place_of(value.name), false});
        return Tensor();
      } else if constexpr (std::is_same_v<T, TensorRefs>) {
        Elements elements;
        for (const TensorRef& ref : value) elements.push_back(place_of(ref.name));
        remember_list(argument, std::move(elements));
        return std::vector<Tensor>(value.size());
      } else if constexpr (std::is_same_v<T, OptionalTensorRefs>) {
        Elements elements;
        for (const std::optional<TensorRef>& ref : value)
          elements.push_back(ref ? std::optional<size_t>(place_of(ref->name)) : std::nullopt);
        std::vector<std::optional<Tensor>> tensors;
        for (const auto& place : elements)
          tensors.push_back(place ? std::optional<Tensor>(Tensor()) : std::nullopt);
        remember_list(argument, std::move(elements));
        return tensors;
      } else if constexpr (std::is_same_v<T, SymRef>) {
        return stand_in_for_number(argument, type, place_of(value.name));
      } else if constexpr (std::is_same_v<T, SymInts>) {
        Elements elements;
        std::vector<int64_t> stand_ins;
        for (const auto& number : value) {
          const auto* ref = std::get_if<SymRef>(&number);
          elements.push_back(ref ? std::optional<size_t>(place_of(ref->name)) : std::nullopt);
          stand_ins.push_back(ref ? 1 : std::get<int64_t>(number));
        }
        sym_ints_.push_back({argument, value, std::move(elements)});
        return stand_ins;
      } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        return std::vector<IValue>(value.begin(), value.end());
      } else if constexpr (std::is_constructible_v<IValue, const T&>) {
        if (std::is_same_v<T, Device>) devices_.push_back(argument);
        return value;
      } else {
        const auto* unknown = std::get_if<UnknownArgument>(&given.value);
        SB_THROW(NotImplementedError, op_.schema().name.to_string(), ": argument '", given.name,
                 "': a ", unknown ? std::string_view(unknown->tag) : kind_of(given.value),
                 " is not supported");
      }
    };
    IValue value = std::visit(visitor, given.value);
    if (type.base == BaseType::Tensor && !type.is_list() && value.is_scalar()) {
      numbers_.push_back({argument, value.to_scalar()});
      return Tensor();
    }
    return value;
  }

  IValue stand_in_for_number(size_t argument, const Type& type, size_t place) {
    if (type.is_list()) {
      // One number for `int[2]` stands for two.
      const int64_t length = type.modifiers.front().length.value_or(0);
      SB_CHECK_TYPE(length > 0, op_.schema().name.to_string(), ": argument '",
                    op_.schema().arguments[argument].name, "': expected ", type.to_string(),
                    ", got a number");
      const auto count = static_cast<size_t>(length);
      sym_ints_.push_back({argument, SymInts(count), Elements(count, place)});
      return std::vector<int64_t>(count, 1);
    }
    values_.push_back({argument, place, type.has_tensor()});
    if (type.has_tensor()) return Tensor();
    if (type.base == BaseType::Bool) return false;
    if (type.base == BaseType::Float) return 1.0;
    return int64_t{1};
  }

  // A list of no tensor is bound for all runs, as a list of whatever the schema says.
  void remember_list(size_t argument, Elements elements) {
    const auto is_tensor = [](const std::optional<size_t>& place) { return place.has_value(); };
    if (std::ranges::any_of(elements, is_tensor))
      tensors_.push_back({argument, std::move(elements)});
  }

  // PyTorch's exporter always writes the device of a factory function; other writers may not.
  void default_to_device() {
    const FunctionSchema& schema = op_.schema();
    const std::optional<size_t> at = schema.find_argument("device");
    if (!at || schema.arguments[*at].type.base != BaseType::Device || !bound_[*at].is_None())
      return;
    if (std::ranges::none_of(bound_, has_tensor)) devices_.push_back(*at);
  }

  Stack arguments(absl::Span<const IValue> values, Device device) const {
    Stack stack;
    // Room for the results as well.
    stack.reserve(std::max(bound_.size(), op_.schema().returns.size()));
    stack.assign(bound_.begin(), bound_.end());
    for (const ValueArgument& value : values_)
      stack[value.argument] = value.to_tensor && !values[value.place].is_Tensor()
                                  ? IValue(wrapped_scalar_tensor(values[value.place].to_scalar()))
                                  : values[value.place];
    for (const NumberArgument& number : numbers_)
      stack[number.argument] = wrapped_scalar_tensor(number.value);
    for (const TensorsArgument& list : tensors_) {
      if (bound_[list.argument].is_TensorList()) {
        std::vector<Tensor> tensors;
        tensors.reserve(list.places.size());
        for (const std::optional<size_t>& place : list.places)
          tensors.push_back(values[*place].to_tensor());
        stack[list.argument] = std::move(tensors);
      } else {
        std::vector<std::optional<Tensor>> tensors;
        tensors.reserve(list.places.size());
        for (const std::optional<size_t>& place : list.places)
          tensors.push_back(place ? std::optional<Tensor>(values[*place].to_tensor())
                                  : std::nullopt);
        stack[list.argument] = std::move(tensors);
      }
    }
    for (const SymIntsArgument& list : sym_ints_) {
      std::vector<SymInt> numbers;
      numbers.reserve(list.places.size());
      for (size_t i = 0; i < list.places.size(); ++i)
        numbers.push_back(list.places[i] ? values[*list.places[i]].to_sym_int()
                                         : SymInt(std::get<int64_t>(list.numbers[i])));
      stack[list.argument] = std::move(numbers);
    }
    for (const size_t argument : devices_) stack[argument] = device;
    return stack;
  }

  OperatorHandle op_;
  AutocastPolicy policy_;
  Stack bound_;  // with stand-ins where values of a run belong
  std::vector<ValueArgument> values_;
  std::vector<NumberArgument> numbers_;
  std::vector<TensorsArgument> tensors_;
  std::vector<SymIntsArgument> sym_ints_;
  std::vector<size_t> devices_;  // arguments that are the run's device
};

}  // namespace

std::unique_ptr<NodeStep> make_operator_step(const Node& node, OperatorHandle op,
                                             const Places& places) {
  return std::make_unique<OperatorStep>(node, op, places);
}

}  // namespace sb::io
