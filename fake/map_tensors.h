// Every tensor in a value, those in lists included.

#ifndef SWITCHBOARD_FAKE_MAP_TENSORS_H_
#define SWITCHBOARD_FAKE_MAP_TENSORS_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// f(tensor) for every tensor in the values. As `tree_flatten_only`.
template <class F>
void for_each_tensor(absl::Span<const IValue> values, F&& f) {
  for (const IValue& value : values) value.for_each_tensor(f);
}

// Replaces every tensor in a value by f(tensor). As `tree_map`.
template <class F>
void map_tensors(IValue& value, F&& f) {
  if (value.is_Tensor()) {
    value = IValue(f(value.unchecked_tensor()));
  } else if (value.is_TensorList()) {
    std::vector<Tensor> list;
    for (const Tensor& t : value.to_tensor_list()) list.push_back(f(t));
    value = IValue(std::move(list));
  } else if (value.is_OptionalTensorList()) {
    std::vector<std::optional<Tensor>> list;
    for (const std::optional<Tensor>& t : value.to_optional_tensor_list()) {
      list.push_back(t ? std::optional(f(*t)) : std::nullopt);
    }
    value = IValue(std::move(list));
  } else if (value.is_List()) {
    std::vector<IValue> list = value.to_list();
    for (IValue& element : list) map_tensors(element, f);
    value = IValue(std::move(list));
  }
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_MAP_TENSORS_H_
