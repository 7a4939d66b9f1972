// Steps of the higher-order operators that call another operator.

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/node_arguments.h"
#include "switchboard/transforms/higher_order/auto_functionalized.h"
#include "switchboard/transforms/higher_order/out_dtype.h"
#include "switchboard/transforms/higher_order/print.h"

namespace sb::io {
namespace {

// A named argument of any kind, as a value of a run.
using ValueInRun = std::function<IValue(absl::Span<const IValue>, const RunContext&)>;

ValueInRun value_in_run(const Node& node, const NamedArgument& argument, const Places& places) {
  const auto place_of = [&](const std::string& name) { return places.at(name); };
  const auto visitor = [&]<class T>(const T& value) -> ValueInRun {
    if constexpr (std::is_same_v<T, None>) {
      return [](auto&&...) { return IValue(); };
    } else if constexpr (std::is_same_v<T, TensorRef> || std::is_same_v<T, SymRef>) {
      return [place = place_of(value.name)](absl::Span<const IValue> values, const RunContext&) {
        return values[place];
      };
    } else if constexpr (std::is_same_v<T, TensorRefs>) {
      std::vector<size_t> all;
      for (const TensorRef& ref : value) all.push_back(place_of(ref.name));
      return [all](absl::Span<const IValue> values, const RunContext&) -> IValue {
        std::vector<Tensor> tensors;
        for (const size_t place : all) tensors.push_back(values[place].to_tensor());
        return tensors;
      };
    } else if constexpr (std::is_same_v<T, OptionalTensorRefs>) {
      std::vector<std::optional<size_t>> all;
      for (const std::optional<TensorRef>& ref : value)
        all.push_back(ref ? std::optional(place_of(ref->name)) : std::nullopt);
      return [all](absl::Span<const IValue> values, const RunContext&) -> IValue {
        std::vector<std::optional<Tensor>> tensors;
        for (const std::optional<size_t> place : all)
          tensors.push_back(place ? std::optional(values[*place].to_tensor()) : std::nullopt);
        return tensors;
      };
    } else if constexpr (std::is_same_v<T, SymInts>) {
      std::vector<Operand> all;
      for (const auto& number : value) {
        const auto* const ref = std::get_if<SymRef>(&number);
        all.push_back(ref ? Operand{place_of(ref->name), {}}
                          : Operand{std::nullopt, std::get<int64_t>(number)});
      }
      return [all](absl::Span<const IValue> values, const RunContext&) -> IValue {
        std::vector<SymInt> numbers;
        for (const Operand& number : all) numbers.push_back(number.in(values).to_sym_int());
        return numbers;
      };
    } else if constexpr (std::is_same_v<T, Device>) {
      return [](absl::Span<const IValue>, const RunContext& context) -> IValue {
        return context.device;
      };
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      const IValue strings = std::vector<IValue>(value.begin(), value.end());
      return [strings](auto&&...) { return strings; };
    } else if constexpr (std::is_constructible_v<IValue, const T&>) {
      return [constant = IValue(value)](auto&&...) { return constant; };
    } else {
      SB_THROW(NotImplementedError, node.target(), ": ", quote(argument.name), ": a ",
               kind_of(argument.value), " is not supported");
    }
  };
  return std::visit(visitor, argument.value);
}

// Tensors as the outputs that a node names: a list is several of them, a missing one none.
Stack as_named(const std::string& op, const std::vector<Argument>& outputs,
               const std::vector<Tensor>& tensors) {
  size_t next = 0;
  const auto take = [&] {
    SB_CHECK_TYPE(next < tensors.size(), op, ": gave ", tensors.size(),
                  " tensors, the node names more");
    return tensors[next++];
  };
  Stack stack;
  for (const Argument& output : outputs) {
    if (std::holds_alternative<TensorRef>(output)) {
      stack.emplace_back(take());
    } else if (const auto* const refs = std::get_if<TensorRefs>(&output)) {
      std::vector<Tensor> list;
      for (size_t i = 0; i < refs->size(); ++i) list.push_back(take());
      stack.emplace_back(std::move(list));
    } else {
      stack.emplace_back();
    }
  }
  SB_CHECK_TYPE(next == tensors.size(), op, ": gave ", tensors.size(), " tensors, the node names ",
                next);
  return stack;
}

}  // namespace

std::optional<std::string> operator_name(std::string_view target) {
  const std::vector<absl::string_view> parts = absl::StrSplit(to_absl(target), '.');
  if (parts.size() != 5 || parts[0] != "torch" || parts[1] != "ops") return std::nullopt;
  std::string name = str_cat(parts[2], "::", parts[3]);
  if (parts[4] != "default") name += str_cat(".", parts[4]);
  return name;
}

// out_dtype(operator, dtype, arguments...)
RunFunction make_out_dtype(const Node& node, const Arguments& arguments) {
  arguments.expect(2, kAnyNumber);
  const std::string& target = arguments.get<OperatorRef>(0, "an operator").target;
  const std::optional<std::string> name = operator_name(target);
  SB_CHECK_NOT_IMPLEMENTED(name, node.target(), ": ", quote(target), " is no operator");
  return [name = *name, dtype = arguments.get<DType>(1, "a dtype"), operands = arguments.rest(2)](
             absl::Span<const IValue> values, const RunContext&) -> Stack {
    return out_dtype_op()({name, dtype, values_of(operands, values)});
  };
}

// print(format, values..., name=value...)
RunFunction make_print(const Node& node, const Arguments& arguments) {
  SB_CHECK_TYPE(!node.inputs.empty(), node.target(), ": expected a format");
  Operands operands;
  std::vector<std::pair<std::string, Operand>> named;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i].name.empty())
      operands.push_back(arguments.operand(i));
    else
      named.emplace_back(node.inputs[i].name, arguments.operand(i));
  }
  return [format = arguments.get<std::string>(0, "a string"), operands, named,
          count = node.outputs.size()](absl::Span<const IValue> values, const RunContext&) {
    std::vector<std::pair<std::string, IValue>> kwargs;
    for (const auto& [name, operand] : named) kwargs.emplace_back(name, operand.in(values));
    sb::print(format, values_of(operands, values), kwargs);
    return Stack(count);
  };
}

// with_effects(token, operator, arguments...), whose first result is the next token. Nodes run in
// their order, which is all that a token asks for.
RunFunction make_with_effects(const Node& node, const Arguments& arguments) {
  SB_CHECK_TYPE(node.inputs.size() >= 2, node.target(), ": expected 2 arguments at least, got ",
                node.inputs.size());
  const std::string& target = arguments.get<OperatorRef>(1, "an operator").target;
  Node inner;
  if (target == "torch.ops.higher_order.print") {
    inner.op = "higher_order::print";
    inner.inputs.assign(node.inputs.begin() + 2, node.inputs.end());
    const RunFunction prints =
        make_print(inner, Arguments(inner, arguments.dispatcher(), arguments.places()));
    return [prints, count = node.outputs.size()](absl::Span<const IValue> values,
                                                 const RunContext& context) {
      prints(values, context);
      return Stack(count);
    };
  }
  const std::optional<std::string> name = operator_name(target);
  SB_CHECK_NOT_IMPLEMENTED(name, node.target(), ": ", quote(target), " is no operator");
  const OperatorHandle op = arguments.dispatcher().find_op_or_throw(*name);
  inner.op = op.schema().name.name;
  inner.overload = op.schema().name.overload;
  for (size_t i = 2; i < node.inputs.size(); ++i) {
    NamedArgument argument = node.inputs[i];
    if (argument.name.empty()) {
      SB_CHECK_TYPE(i - 2 < op.schema().arguments.size(), node.target(), ": ", *name, " takes ",
                    op.schema().arguments.size(), " arguments, the node has more");
      argument.name = op.schema().arguments[i - 2].name;
    }
    inner.inputs.push_back(std::move(argument));
  }
  if (!op.schema().returns.empty() && !node.outputs.empty())
    inner.outputs.assign(node.outputs.begin() + 1, node.outputs.end());
  const std::shared_ptr<NodeStep> step = make_operator_step(inner, op, arguments.places());
  const bool gives_nothing = op.schema().returns.empty();
  for (size_t i = 1; gives_nothing && i < node.outputs.size(); ++i)
    SB_CHECK_TYPE(std::holds_alternative<None>(node.outputs[i]), node.target(), ": ", *name,
                  " gives nothing, the node names a ", kind_of(node.outputs[i]));
  return [step, gives_nothing, count = node.outputs.size()](absl::Span<const IValue> values,
                                                            const RunContext& context) {
    Stack results = step->run(values, context);
    results.insert(results.begin(), IValue());
    if (gives_nothing) results.resize(count);
    return results;
  };
}

// auto_functionalized(operator, name=value...), auto_functionalized_v2(operator, name=value...,
// _all_bases=[...])
RunFunction make_auto_functionalized(const Node& node, const Arguments& arguments) {
  SB_CHECK_TYPE(!node.inputs.empty(), node.target(), ": expected an operator");
  const std::string& target = arguments.get<OperatorRef>(0, "an operator").target;
  const std::optional<std::string> name = operator_name(target);
  SB_CHECK_NOT_IMPLEMENTED(name, node.target(), ": ", quote(target), " is no operator");
  const bool v2 = node.op == "higher_order::auto_functionalized_v2";
  std::vector<std::pair<std::string, ValueInRun>> named;
  std::optional<Operands> bases;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const NamedArgument& input = node.inputs[i];
    SB_CHECK_TYPE(!input.name.empty(), node.target(), ": argument ", i, ": expected a name");
    if (v2 && input.name == "_all_bases")
      bases = arguments.list(i);
    else
      named.emplace_back(input.name, value_in_run(node, input, arguments.places()));
  }
  SB_CHECK_TYPE(!v2 || bases, node.target(), ": '_all_bases' is missing");
  arguments.dispatcher().find_op_or_throw(*name);
  return [named, bases, v2, name = *name, op = node.target(), outputs = node.outputs](
             absl::Span<const IValue> values, const RunContext& context) {
    std::vector<higher_order::NamedValue> kwargs;
    for (const auto& [key, value] : named) kwargs.emplace_back(key, value(values, context));
    std::vector<Tensor> results;
    if (v2)
      results = auto_functionalized_v2(name, kwargs,
                                       tensors_among(values_of(*bases, values)).to_tensor_list());
    else
      results = auto_functionalized(name, kwargs);
    return as_named(op, outputs, std::move(results));
  };
}

}  // namespace sb::io
