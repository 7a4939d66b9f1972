// The tensors in an argument or a result of a typed call.

#ifndef SWITCHBOARD_DISPATCH_VISIT_TENSORS_H_
#define SWITCHBOARD_DISPATCH_VISIT_TENSORS_H_

#include <optional>
#include <tuple>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/cpp_types.h"
#include "switchboard/dispatch/ivalue.h"

namespace sb::internal {

template <class T>
inline constexpr TypeCode cpp_type_code = kDeepType;
template <SchemaArgument T>
inline constexpr TypeCode cpp_type_code<T> = CodeOfArgument<T>::value;
template <class T>
requires(!SchemaArgument<T> &&
         SchemaReturn<T>) inline constexpr TypeCode cpp_type_code<T> = CodeOfReturn<T>::value;

// A C++ type of the schema's that never holds a tensor: a number, a list of them, a device.
template <class T>
concept NeverHoldsTensors = base_of(cpp_type_code<T>)
!= BaseType::Tensor&& cpp_type_code<T> != kDeepType;

// Calls f(const Tensor*) for every place of a tensor in an argument or a result, in order: with
// nullptr where an optional one is absent. A type that this does not know does not compile, so that
// no tensor is overlooked.
template <class T, class F>
void visit_tensor_places(const T& value, F&& f) = delete;
template <NeverHoldsTensors T, class F>
[[gnu::always_inline]] inline void visit_tensor_places(const T&, F&&) {}
template <class F>
[[gnu::always_inline]] inline void visit_tensor_places(const Tensor& t, F&& f) {
  f(&t);
}
template <class F>
[[gnu::always_inline]] inline void visit_tensor_places(const std::optional<Tensor>& t, F&& f) {
  f(t ? &*t : nullptr);
}
template <class F>
void visit_tensor_places(const TensorList& list, F&& f) {
  for (const Tensor& t : list) f(&t);
}
template <class F>
void visit_tensor_places(const OptionalTensorList& list, F&& f) {
  for (const std::optional<Tensor>& t : list) f(t ? &*t : nullptr);
}
template <class F>
void visit_tensor_places(const OptionalSpan<TensorList>& list, F&& f) {
  if (list) visit_tensor_places(*list, f);
}
template <class F>
void visit_tensor_places(const std::vector<Tensor>& list, F&& f) {
  visit_tensor_places(TensorList(list), f);
}
template <class F>
void visit_tensor_places(const std::vector<std::optional<Tensor>>& list, F&& f) {
  visit_tensor_places(OptionalTensorList(list), f);
}
template <class F>
void visit_tensor_places(const std::optional<std::vector<Tensor>>& list, F&& f) {
  if (list) visit_tensor_places(*list, f);
}
template <class F>
void visit_tensor_places(const IValue& value, F&& f) {
  value.for_each_tensor([&f](const Tensor& t) { f(&t); });
}
template <class... R, class F>
void visit_tensor_places(const std::tuple<R...>& results, F&& f) {
  std::apply([&](const R&... r) { (visit_tensor_places(r, f), ...); }, results);
}

// Calls f(const Tensor&) for every tensor that is there.
template <class T, class F>
[[gnu::always_inline]] inline void visit_tensors(const T& value, F&& f) {
  visit_tensor_places(value, [&f](const Tensor* t) {
    if (t) f(*t);
  });
}

// The keys that arguments add to a call together.
template <class... A>
[[gnu::always_inline]] inline DispatchKeySet keys_in(const A&... arguments) {
  DispatchKeySet keys;
  (visit_tensors(arguments, [&keys](const Tensor& t) { keys |= t.key_set(); }), ...);
  return keys;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_VISIT_TENSORS_H_
