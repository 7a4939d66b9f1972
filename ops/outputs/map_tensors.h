// A value with its tensors replaced by others.

#ifndef SWITCHBOARD_OPS_OUTPUTS_MAP_TENSORS_H_
#define SWITCHBOARD_OPS_OUTPUTS_MAP_TENSORS_H_

#include <optional>
#include <vector>

#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// `value` with f(tensor) in the place of each tensor that is defined, those in lists included, in
// order.
template <class F>
IValue map_tensors(const IValue& value, F&& f) {
  const auto map = [&](const Tensor& t) { return t.defined() ? f(t) : t; };
  if (value.is_Tensor()) return map(value.unchecked_tensor());
  if (value.is_TensorList()) {
    std::vector<Tensor> list;
    for (const Tensor& t : value.to_tensor_list()) list.push_back(map(t));
    return list;
  }
  if (value.is_OptionalTensorList()) {
    std::vector<std::optional<Tensor>> list;
    for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
      list.push_back(t ? std::optional<Tensor>(map(*t)) : std::nullopt);
    return list;
  }
  if (value.is_List()) {
    std::vector<IValue> list;
    for (const IValue& v : value.to_list()) list.push_back(map_tensors(v, f));
    return list;
  }
  return value;
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUTPUTS_MAP_TENSORS_H_
