#include "switchboard/transforms/control_flow/numbers.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::control_flow {

ValueKind kind_of(const std::string& who, const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::Tensor:
      return ValueKind::Tensor;
    case IValue::Tag::Int:
    case IValue::Tag::SymInt:
      return ValueKind::Int;
    case IValue::Tag::Double:
    case IValue::Tag::SymFloat:
      return ValueKind::Float;
    case IValue::Tag::Bool:
    case IValue::Tag::SymBool:
      return ValueKind::Bool;
    case IValue::Tag::None:
      return ValueKind::None;
    default:
      SB_THROW(TypeError, who, ": expected a tensor, an int, a float or a bool, got ",
               value.tag_name());
  }
}

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::Tensor:
      return "a tensor";
    case ValueKind::Int:
      return "an int";
    case ValueKind::Float:
      return "a float";
    case ValueKind::Bool:
      return "a bool";
    case ValueKind::None:
      return "None";
  }
  return "";
}

namespace {

DType dtype_of(ValueKind kind) {
  return kind == ValueKind::Int     ? DType::Int64
         : kind == ValueKind::Float ? DType::Float64
                                    : DType::Bool;
}

}  // namespace

std::vector<Tensor> to_tensors(const std::vector<IValue>& values,
                               const std::vector<Tensor>& beside) {
  Tensor like = beside.empty() ? Tensor() : beside[0];
  for (const IValue& value : values)
    if (value.is_Tensor()) like = value.to_tensor();
  const bool of_mode = like.defined() && like.impl()->mode_data();
  std::vector<Tensor> tensors;
  for (const IValue& value : values) {
    const ValueKind kind = kind_of("to_tensors", value);
    if (kind == ValueKind::None) continue;
    if (kind == ValueKind::Tensor)
      tensors.push_back(value.to_tensor());
    else if (of_mode)
      tensors.push_back(new_full(like, {}, value.to_scalar(), dtype_of(kind), std::nullopt,
                                 Device(DeviceType::CPU)));
    else
      tensors.push_back(scalar_tensor(value.to_scalar(), dtype_of(kind)));
  }
  return tensors;
}

std::vector<IValue> to_values(const std::vector<Tensor>& tensors,
                              const std::vector<ValueKind>& kinds) {
  std::vector<IValue> values;
  size_t next = 0;
  for (const ValueKind kind : kinds) {
    if (kind == ValueKind::None)
      values.emplace_back();
    else if (kind == ValueKind::Tensor)
      values.emplace_back(tensors.at(next++));
    else
      values.emplace_back(item(tensors.at(next++)));
  }
  values.insert(values.end(), tensors.begin() + static_cast<std::ptrdiff_t>(next), tensors.end());
  return values;
}

IValue ResultKinds::callable(
    std::string who, std::function<std::vector<IValue>(const std::vector<Tensor>&)> f) const {
  SB_CHECK_VALUE(f, who, ": expected a function, got an empty one");
  return Callable::make(
      [kinds = kinds_, who = std::move(who), f = std::move(f)](std::vector<IValue> arguments) {
        std::vector<Tensor> inputs;
        for (IValue& argument : arguments) inputs.push_back(std::move(argument).to_tensor());
        const std::vector<IValue> results = f(inputs);
        std::vector<ValueKind> got;
        for (size_t i = 0; i < results.size(); ++i)
          got.push_back(kind_of(str_cat(who, ": result ", i), results[i]));
        if (!*kinds) *kinds = got;
        const std::vector<ValueKind>& expected = **kinds;
        SB_CHECK(got.size() == expected.size(), who, ": expected ", expected.size(),
                 " results, got ", got.size());
        for (size_t i = 0; i < got.size(); ++i) {
          SB_CHECK(got[i] == expected[i], who, ": result ", i, ": expected ", name_of(expected[i]),
                   ", as of the other function, got ", name_of(got[i]));
        }
        return values_of(to_tensors(results, inputs));
      });
}

std::vector<IValue> ResultKinds::values(const std::vector<Tensor>& results) const {
  return to_values(results, kinds_->value_or(std::vector<ValueKind>()));
}

}  // namespace sb::control_flow
