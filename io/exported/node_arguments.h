// What the steps of higher-order operators are made of: the arguments of a node, which go by their
// order, and what they are in a run.

#ifndef SWITCHBOARD_IO_EXPORTED_NODE_ARGUMENTS_H_
#define SWITCHBOARD_IO_EXPORTED_NODE_ARGUMENTS_H_

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/io/exported/compiled_graph.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {

// An argument of a higher-order operator, or an element of one that is a list.
struct Operand {
  std::optional<size_t> place;
  IValue constant;

  const IValue& in(absl::Span<const IValue> values) const {
    return place ? values[*place] : constant;
  }
};
using Operands = std::vector<Operand>;
constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

inline std::vector<IValue> values_of(const Operands& operands, absl::Span<const IValue> values) {
  std::vector<IValue> list;
  list.reserve(operands.size());
  for (const Operand& operand : operands) list.push_back(operand.in(values));
  return list;
}

// The arguments of a node, which go by their order.
class Arguments {
 public:
  Arguments(const Node& node, const Dispatcher& dispatcher, const Places& places)
      : node_(node), dispatcher_(dispatcher), places_(places) {}

  // They go by their order: names would say something else.
  void expect(size_t least, size_t most) const {
    SB_CHECK_TYPE(node_.inputs.size() >= least && node_.inputs.size() <= most, node_.target(),
                  ": expected ", least, " to ", most, " arguments, the node has ",
                  node_.inputs.size());
    for (const NamedArgument& input : node_.inputs)
      SB_CHECK_NOT_IMPLEMENTED(input.name.empty(), node_.target(), ": the named argument ",
                               quote(input.name), " is not supported");
  }

  template <class T>
  const T& get(size_t i, const char* what) const {
    const T* const value = std::get_if<T>(&node_.inputs[i].value);
    SB_CHECK_TYPE(value, node_.target(), ": argument ", i, ": expected ", what, ", got a ",
                  kind_of(node_.inputs[i].value));
    return *value;
  }
  const Dispatcher& dispatcher() const { return dispatcher_; }
  const Places& places() const { return places_; }
  bool is_none(size_t i) const { return std::holds_alternative<None>(node_.inputs[i].value); }

  std::shared_ptr<const CompiledGraph> graph(size_t i) const {
    return std::make_shared<const CompiledGraph>(*get<GraphRef>(i, "a graph").graph, dispatcher_);
  }

  // What an argument is in a run.
  Operand operand(size_t i) const {
    Operands operands = elements(node_.inputs[i].value, i);
    SB_CHECK_TYPE(operands.size() == 1 && !is_list(i), node_.target(), ": argument ", i,
                  ": expected one value, got a ", kind_of(node_.inputs[i].value));
    return std::move(operands[0]);
  }
  // The same for the elements of a list.
  Operands list(size_t i) const { return elements(node_.inputs[i].value, i); }
  // The same for all arguments from the i-th on.
  Operands rest(size_t i) const {
    Operands operands;
    for (; i < node_.inputs.size(); ++i) operands.push_back(operand(i));
    return operands;
  }

 private:
  bool is_list(size_t i) const {
    const Argument& value = node_.inputs[i].value;
    return std::holds_alternative<TensorRefs>(value) || std::holds_alternative<SymInts>(value) ||
           std::holds_alternative<std::vector<int64_t>>(value);
  }

  Operand named(const std::string& name) const { return {places_.at(name), {}}; }

  Operands elements(const Argument& argument, size_t i) const {
    Operands operands;
    const auto visitor = [&]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, TensorRef> || std::is_same_v<T, SymRef>) {
        operands.push_back(named(value.name));
      } else if constexpr (std::is_same_v<T, TensorRefs>) {
        for (const TensorRef& ref : value) operands.push_back(named(ref.name));
      } else if constexpr (std::is_same_v<T, SymInts>) {
        for (const auto& number : value) {
          const auto* ref = std::get_if<SymRef>(&number);
          operands.push_back(ref ? named(ref->name)
                                 : Operand{std::nullopt, std::get<int64_t>(number)});
        }
      } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
        for (const int64_t number : value) operands.push_back({std::nullopt, number});
      } else if constexpr (std::is_same_v<T, None>) {
        operands.push_back({});
      } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
                           std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
        operands.push_back({std::nullopt, value});
      } else {
        SB_THROW(NotImplementedError, node_.target(), ": argument ", i, ": a ", kind_of(argument),
                 " is not supported");
      }
    };
    std::visit(visitor, argument);
    return operands;
  }

  const Node& node_;
  const Dispatcher& dispatcher_;
  const Places& places_;
};

// The tensors among values, which control flow carries.
inline IValue tensors_among(const std::vector<IValue>& values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values)
    if (value.is_Tensor()) tensors.push_back(value.to_tensor());
  return tensors;
}

// What a node does when it runs, and gives.
using RunFunction = std::function<Stack(absl::Span<const IValue>, const RunContext&)>;

// Those of operators that call another one in a way of their own (operator_call_steps.cc).
RunFunction make_out_dtype(const Node& node, const Arguments& arguments);
RunFunction make_print(const Node& node, const Arguments& arguments);
RunFunction make_with_effects(const Node& node, const Arguments& arguments);
RunFunction make_auto_functionalized(const Node& node, const Arguments& arguments);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_NODE_ARGUMENTS_H_
