#include "switchboard/dispatch/boxing.h"

#include "switchboard/dispatch/typed_frame.h"

namespace sb::internal {
namespace {

template <class List>
void assign(List* result, const auto& list) {
  result->assign(list.begin(), list.end());
}

// Moves the value of a stack into a result in its C++ type.
void unbox(IValue&& v, std::vector<Tensor>* result) { assign(result, v.to_tensor_list()); }
void unbox(IValue&& v, std::vector<std::optional<Tensor>>* result) {
  assign(result, v.to_optional_tensor_list());
}
void unbox(IValue&& v, std::vector<int64_t>* result) { assign(result, v.to_int_list()); }
void unbox(IValue&& v, std::vector<SymInt>* result) { assign(result, v.to_sym_int_list()); }
void unbox(IValue&& v, std::vector<double>* result) { assign(result, v.to_double_list()); }
void unbox(IValue&& v, std::vector<bool>* result) { *result = v.to_bool_list(); }
void unbox(IValue&& v, std::vector<Scalar>* result) {
  result->clear();
  for (const IValue& item : v.to_list()) result->push_back(item.to_scalar());
}
void unbox(IValue&& v, std::string* result) { *result = v.to_string_view(); }
void unbox(IValue&& v, Tensor* result) { *result = std::move(v).to_tensor(); }
void unbox(IValue&& v, IValue* result) { *result = std::move(v); }
template <class T>
void unbox(IValue&& v, T* result) {
  *result = Unboxed<T>(v).get();
}
template <class T>
void unbox(IValue&& v, std::optional<T>* result) {
  if (v.is_None())
    result->reset();
  else
    unbox(std::move(v), &result->emplace());
}

}  // namespace

Unboxed<absl::Span<const bool>>::Unboxed(const IValue& v)
    : value(v.to_bool_list().begin(), v.to_bool_list().end()) {}

Unboxed<absl::Span<const Scalar>>::Unboxed(const IValue& v) {
  for (const IValue& item : v.to_list()) value.push_back(item.to_scalar());
}

IValue box(IntArrayRef v) { return std::vector<int64_t>(v.begin(), v.end()); }
IValue box(SymIntArrayRef v) { return std::vector<SymInt>(v.begin(), v.end()); }
IValue box(absl::Span<const double> v) { return std::vector<double>(v.begin(), v.end()); }
IValue box(absl::Span<const bool> v) { return std::vector<bool>(v.begin(), v.end()); }
IValue box(TensorList v) { return std::vector<Tensor>(v.begin(), v.end()); }
IValue box(OptionalTensorList v) { return std::vector<std::optional<Tensor>>(v.begin(), v.end()); }
IValue box(absl::Span<const Scalar> v) { return std::vector<IValue>(v.begin(), v.end()); }
IValue box(const std::vector<Scalar>& v) { return box(absl::Span<const Scalar>(v)); }

IValue box_argument(TypeCode code, const void* argument) {
  return with_argument(code, argument, [](const auto& v) { return box(v); });
}

void unbox_results(absl::Span<const TypeCode> codes, Stack* stack, void* const* places) {
  IValue* value = stack->data() + (stack->size() - codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    with_result(codes[i], places[i], [&](auto& result) { unbox(std::move(value[i]), &result); });
  }
  stack->resize(stack->size() - codes.size());
}

void box_results(absl::Span<const TypeCode> codes, void* const* places, size_t num_arguments,
                 Stack* stack) {
  stack->resize(stack->size() - num_arguments);
  for (size_t i = 0; i < codes.size(); ++i) {
    with_result(codes[i], places[i], [&](auto& result) {
      if constexpr (std::is_same_v<std::decay_t<decltype(result)>, Tensor>)
        stack->push_back(std::move(result));
      else
        stack->push_back(box(result));
    });
  }
}

}  // namespace sb::internal
