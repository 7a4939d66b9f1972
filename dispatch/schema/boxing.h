// Between C++ arguments and the stack, in both directions.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_BOXING_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_BOXING_H_

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// Holds what a C++ parameter of type T (decayed) refers to, made from an IValue that outlives it.
// get() gives the parameter. Conversions throw TypeError as IValue's do.
template <class T>
struct Unboxed;

#define SB_UNBOX_VALUE(T, method)                            \
  template <>                                                \
  struct Unboxed<T> {                                        \
    explicit Unboxed(const IValue& v) : value(v.method()) {} \
    const T& get() const { return value; }                   \
    T value;                                                 \
  }
SB_UNBOX_VALUE(int64_t, to_int);
SB_UNBOX_VALUE(SymInt, to_sym_int);
SB_UNBOX_VALUE(double, to_double);
SB_UNBOX_VALUE(bool, to_bool);
SB_UNBOX_VALUE(std::complex<double>, to_complex);
SB_UNBOX_VALUE(Scalar, to_scalar);
SB_UNBOX_VALUE(std::string_view, to_string_view);
SB_UNBOX_VALUE(DType, to_dtype);
SB_UNBOX_VALUE(Layout, to_layout);
SB_UNBOX_VALUE(MemoryFormat, to_memory_format);
SB_UNBOX_VALUE(Device, to_device);
SB_UNBOX_VALUE(Generator, to_generator);
SB_UNBOX_VALUE(Storage, to_storage);
SB_UNBOX_VALUE(IntArrayRef, to_int_list);
SB_UNBOX_VALUE(SymIntArrayRef, to_sym_int_list);
SB_UNBOX_VALUE(absl::Span<const double>, to_double_list);
SB_UNBOX_VALUE(TensorList, to_tensor_list);
SB_UNBOX_VALUE(OptionalTensorList, to_optional_tensor_list);
#undef SB_UNBOX_VALUE

// Tensors are passed by the reference that the stack holds, without a count.
template <>
struct Unboxed<Tensor> {
  explicit Unboxed(const IValue& v) : value(v.to_tensor()) {}
  const Tensor& get() const { return value; }
  const Tensor& value;
};
template <>
struct Unboxed<IValue> {
  explicit Unboxed(const IValue& v) : value(v) {}
  const IValue& get() const { return value; }
  const IValue& value;
};
template <>
struct Unboxed<absl::Span<const bool>> {
  explicit Unboxed(const IValue& v);
  absl::Span<const bool> get() const { return value; }
  absl::InlinedVector<bool, 8> value;
};
template <>
struct Unboxed<absl::Span<const Scalar>> {
  explicit Unboxed(const IValue& v);
  absl::Span<const Scalar> get() const { return value; }
  std::vector<Scalar> value;
};
template <class T>
struct Unboxed<std::optional<T>> {
  explicit Unboxed(const IValue& v) {
    if (!v.is_None()) value = Unboxed<T>(v).get();
  }
  const std::optional<T>& get() const { return value; }
  std::optional<T> value;
};
template <class Span>
struct Unboxed<OptionalSpan<Span>> {
  explicit Unboxed(const IValue& v) {
    if (!v.is_None()) value = Unboxed<Span>(v).get();
  }
  const OptionalSpan<Span>& get() const { return value; }
  OptionalSpan<Span> value;
};

// IValues of C++ arguments and returns.
template <class T>
IValue box(const T& value) {
  return IValue(value);
}
IValue box(IntArrayRef v);
IValue box(SymIntArrayRef v);
IValue box(absl::Span<const double> v);
IValue box(absl::Span<const bool> v);
IValue box(TensorList v);
IValue box(OptionalTensorList v);
IValue box(absl::Span<const Scalar> v);
IValue box(const std::vector<Scalar>& v);
template <class T>
IValue box(const std::optional<T>& v) {
  return v ? box(*v) : IValue();
}
template <class Span>
IValue box(const OptionalSpan<Span>& v) {
  return v ? box(*v) : IValue();
}

template <class R>
IValue box_return(R&& result) {
  if constexpr (std::is_same_v<R, Tensor>)
    return IValue(std::move(result));
  else
    return box(result);
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// Takes the C++ return R out of the end of the stack.
template <class R>
R unbox_return(IValue&& v) {
  if constexpr (std::is_same_v<R, Tensor>) {
    return std::move(v).to_tensor();
  } else if constexpr (std::is_same_v<R, std::vector<Tensor>>) {
    const TensorList list = v.to_tensor_list();
    return R(list.begin(), list.end());
  } else if constexpr (std::is_same_v<R, std::vector<std::optional<Tensor>>>) {
    const OptionalTensorList list = v.to_optional_tensor_list();
    return R(list.begin(), list.end());
  } else if constexpr (std::is_same_v<R, std::vector<int64_t>>) {
    const IntArrayRef list = v.to_int_list();
    return R(list.begin(), list.end());
  } else if constexpr (std::is_same_v<R, std::vector<SymInt>>) {
    const SymIntArrayRef list = v.to_sym_int_list();
    return R(list.begin(), list.end());
  } else if constexpr (std::is_same_v<R, std::vector<double>>) {
    const absl::Span<const double> list = v.to_double_list();
    return R(list.begin(), list.end());
  } else if constexpr (std::is_same_v<R, std::vector<bool>>) {
    return v.to_bool_list();
  } else if constexpr (std::is_same_v<R, std::vector<Scalar>>) {
    R result;
    for (const IValue& item : v.to_list()) result.push_back(item.to_scalar());
    return result;
  } else if constexpr (std::is_same_v<R, std::string>) {
    return std::string(v.to_string_view());
  } else if constexpr (is_optional<R>) {
    if (v.is_None()) return std::nullopt;
    return unbox_return<typename R::value_type>(std::move(v));
  } else {
    return R(Unboxed<R>(v).get());
  }
}

// Takes all returns off the end of the stack. The stack must have at least as many values.
template <class R>
struct ReturnUnboxer {
  static constexpr size_t count = 1;
  static R take(Stack* stack) {
    IValue v = std::move(stack->back());
    stack->pop_back();
    return unbox_return<R>(std::move(v));
  }
  static void put(R&& result, Stack* stack) {
    if constexpr (std::is_same_v<R, Tensor>)
      stack->emplace_back(std::move(result));
    else
      stack->push_back(box(result));
  }
};
template <class... R>
struct ReturnUnboxer<std::tuple<R...>> {
  static constexpr size_t count = sizeof...(R);
  static std::tuple<R...> take(Stack* stack) {
    return take(stack, std::index_sequence_for<R...>());
  }
  static void put(std::tuple<R...>&& result, Stack* stack) {
    std::apply([&](auto&&... r) { (stack->push_back(box(r)), ...); }, std::move(result));
  }

 private:
  template <size_t... I>
  static std::tuple<R...> take(Stack* stack, std::index_sequence<I...>) {
    IValue* const first = stack->data() + (stack->size() - count);
    std::tuple<R...> result{unbox_return<R>(std::move(first[I]))...};
    stack->resize(stack->size() - count);
    return result;
  }
};
template <>
struct ReturnUnboxer<void> {
  static constexpr size_t count = 0;
  static void take(Stack*) {}
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_BOXING_H_
