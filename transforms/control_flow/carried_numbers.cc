// Loops that carry numbers: each is a tensor without dimensions between the trips.

#include <memory>
#include <string>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb {
namespace {

using Values = std::vector<IValue>;

constexpr const char* kName = "higher_order::while_loop";

// What a carried value is: nullopt of a tensor, the dtype of a number.
using Kind = std::optional<DType>;

Kind kind_of(const std::string& who, size_t i, const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::Tensor:
      return std::nullopt;
    case IValue::Tag::Int:
    case IValue::Tag::SymInt:
      return DType::Int64;
    case IValue::Tag::Double:
    case IValue::Tag::SymFloat:
      return DType::Float64;
    case IValue::Tag::Bool:
    case IValue::Tag::SymBool:
      return DType::Bool;
    default:
      SB_THROW(TypeError, who, " ", i, ": expected a tensor, an int, a float or a bool, got ",
               value.tag_name());
  }
}

std::string name_of(const Kind& kind) {
  if (!kind) return "a tensor";
  return *kind == DType::Int64 ? "an int" : *kind == DType::Float64 ? "a float" : "a bool";
}

std::vector<Tensor> to_tensors(const Values& values, const std::vector<Kind>& kinds) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    tensors.push_back(kinds[i] ? scalar_tensor(values[i].to_scalar(), kinds[i])
                               : values[i].to_tensor());
  }
  return tensors;
}

// The first of them are of these kinds, the others tensors.
Values to_values(const std::vector<Tensor>& tensors, const std::vector<Kind>& kinds) {
  Values values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i < kinds.size() && kinds[i])
      values.emplace_back(item(tensors[i]));
    else
      values.emplace_back(tensors[i]);
  }
  return values;
}

}  // namespace

std::vector<IValue> while_loop_values(std::function<IValue(const std::vector<IValue>&)> cond_fn,
                                      std::function<Values(const std::vector<IValue>&)> body_fn,
                                      std::vector<IValue> carried_inputs,
                                      std::vector<Tensor> additional_inputs) {
  auto kinds = std::make_shared<std::vector<Kind>>();
  for (size_t i = 0; i < carried_inputs.size(); ++i)
    kinds->push_back(kind_of(str_cat(kName, ": carried_inputs"), i, carried_inputs[i]));
  const auto condition = [kinds, cond_fn](const std::vector<Tensor>& tensors) {
    const IValue goes_on = cond_fn(to_values(tensors, *kinds));
    if (goes_on.is_Tensor()) return goes_on.to_tensor();
    const std::string who = str_cat(kName, ": cond_fn: result");
    SB_CHECK_TYPE(kind_of(who, 0, goes_on) == DType::Bool, who,
                  ": expected a bool or a bool tensor, got ", goes_on.tag_name());
    return scalar_tensor(goes_on.to_scalar(), DType::Bool);
  };
  const auto body = [kinds, body_fn](const std::vector<Tensor>& tensors) {
    const Values next = body_fn(to_values(tensors, *kinds));
    const std::string who = str_cat(kName, ": body_fn: result");
    SB_CHECK(next.size() == kinds->size(), kName, ": body_fn: expected ", kinds->size(),
             " results, as many as are carried, got ", next.size());
    for (size_t i = 0; i < next.size(); ++i) {
      const Kind got = kind_of(who, i, next[i]);
      SB_CHECK(got == (*kinds)[i], who, " ", i, ": expected ", name_of((*kinds)[i]),
               ", as it took, got ", name_of(got));
    }
    return to_tensors(next, *kinds);
  };
  return to_values(
      while_loop(condition, body, to_tensors(carried_inputs, *kinds), std::move(additional_inputs)),
      *kinds);
}

}  // namespace sb
