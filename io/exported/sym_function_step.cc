#include <optional>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/exported/sym_function.h"

namespace sb::io {
namespace {

SymValue sym_value_of(const IValue& value) {
  if (value.is_Int() || value.is_SymInt()) return value.to_sym_int().value();
  if (value.is_Double() || value.is_SymFloat()) return value.to_sym_float().value();
  return value.to_sym_bool().value();  // TypeError for what is no number
}

class SymFunctionStep : public NodeStep {
 public:
  SymFunctionStep(const Node& node, const Places& places)
      : name_(node.target()), function_(find_sym_function(node.op)) {
    SB_CHECK_NOT_IMPLEMENTED(function_, name_, ": no such function of numbers is known");
    for (const NamedArgument& input : node.inputs) add(input.value, places);
    SB_CHECK_TYPE(node.outputs.size() == 1, name_, ": the node names ", node.outputs.size(),
                  " outputs; the function has one");
  }

  Stack run(absl::Span<const IValue> values, const RunContext&) const override {
    std::vector<SymValue> operands;
    operands.reserve(operands_.size());
    for (const Operand& operand : operands_)
      operands.push_back(sym_value_of(operand.place ? values[*operand.place] : operand.constant));
    return {ivalue_of(function_(operands))};
  }

 private:
  struct Operand {
    std::optional<size_t> place;
    IValue constant;
  };

  void add(const Argument& argument, const Places& places) {
    if (const auto* ref = std::get_if<SymRef>(&argument)) {
      operands_.push_back({places.at(ref->name), {}});
    } else if (const auto* list = std::get_if<SymInts>(&argument)) {  // torch.sym_sum([a, 1])
      for (const auto& number : *list) {
        if (const auto* ref = std::get_if<SymRef>(&number))
          operands_.push_back({places.at(ref->name), {}});
        else
          operands_.push_back({std::nullopt, std::get<int64_t>(number)});
      }
    } else if (const auto* i = std::get_if<int64_t>(&argument)) {
      operands_.push_back({std::nullopt, *i});
    } else if (const auto* d = std::get_if<double>(&argument)) {
      operands_.push_back({std::nullopt, *d});
    } else if (const auto* b = std::get_if<bool>(&argument)) {
      operands_.push_back({std::nullopt, *b});
    } else {
      SB_THROW(TypeError, name_, ": expected numbers, got a ", kind_of(argument));
    }
  }

  std::string name_;
  SymFunction function_;
  std::vector<Operand> operands_;
};

}  // namespace

IValue ivalue_of(const SymValue& value) {
  if (value.kind() == SymKind::Int) return SymInt(value);
  if (value.kind() == SymKind::Float) return SymFloat(value);
  return SymBool(value);
}

std::unique_ptr<NodeStep> make_sym_function_step(const Node& node, const Places& places) {
  return std::make_unique<SymFunctionStep>(node, places);
}

}  // namespace sb::io
