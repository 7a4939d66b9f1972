#include "switchboard/transforms/higher_order/named_values.h"

#include <algorithm>

#include "switchboard/core/error.h"

namespace sb::higher_order {

IValue pairs_of(const std::vector<NamedValue>& values) {
  std::vector<IValue> pairs;
  for (const auto& [name, value] : values)
    pairs.emplace_back(std::vector<IValue>{IValue(name), value});
  return pairs;
}

std::vector<IValue> items_of(std::string_view who, std::string_view what, const IValue& list) {
  if (list.is_TensorList())
    return std::vector<IValue>(list.to_tensor_list().begin(), list.to_tensor_list().end());
  SB_CHECK_TYPE(list.is_List(), who, ": ", what, ": expected a list, got ", list.tag_name());
  return std::vector<IValue>(list.to_list().begin(), list.to_list().end());
}

NamedValues::NamedValues(std::string_view who, std::string_view what, const IValue& pairs)
    : who_(who), what_(what) {
  for (const IValue& pair : items_of(who, what, pairs)) {
    SB_CHECK_TYPE(pair.is_List() && pair.to_list().size() == 2 && pair.to_list()[0].is_String(),
                  who_, ": ", what_, ": expected pairs of a name and a value, got ",
                  pair.to_string());
    const std::string_view name = pair.to_list()[0].to_string_view();
    SB_CHECK_VALUE(!find(name), who_, ": ", what_, ": '", name, "' is given twice");
    values_.emplace_back(name, pair.to_list()[1]);
  }
}

const IValue* NamedValues::find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &NamedValue::first);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<IValue> NamedValues::take(std::string_view name) {
  const auto found = std::ranges::find(values_, name, &NamedValue::first);
  if (found == values_.end()) return std::nullopt;
  IValue value = std::move(found->second);
  values_.erase(found);
  return value;
}

IValue NamedValues::expect(std::string_view name) {
  std::optional<IValue> value = take(name);
  SB_CHECK_TYPE(value, who_, ": ", what_, ": '", name, "' is missing");
  return *std::move(value);
}

}  // namespace sb::higher_order
