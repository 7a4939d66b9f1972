// Between C++ arguments and the stack, in both directions.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_BOXING_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_BOXING_H_

#include <array>
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

// The results of a function, one by one, as pointers to them.
template <class R>
struct TypedResult {
  R value{};
  std::array<void*, 1> const places = {&value};
};
template <class... R>
struct TypedResult<std::tuple<R...>> {
  std::tuple<R...> value{};
  std::array<void*, sizeof...(R)> const places =
      std::apply([](R&... r) { return std::array<void*, sizeof...(R)>{&r...}; }, value);
};

// The same by type codes. An argument in its C++ type, as an IValue.
IValue box_argument(TypeCode code, const void* argument);
// Takes results off the end of the stack, which has as many values, and moves them to `places`.
// Throws TypeError if one is of another type.
void unbox_results(absl::Span<const TypeCode> codes, Stack* stack, void* const* places);
// Puts results in the place of the last `num_arguments` values.
void box_results(absl::Span<const TypeCode> codes, void* const* places, size_t num_arguments,
                 Stack* stack);

// The results of a boxed call as what a function returns.
template <class R>
R take_results(Stack* stack) {
  if constexpr (!std::is_void_v<R>) {
    TypedResult<R> result;
    unbox_results(ReturnCodes<R>::span(), stack, result.places.data());
    return std::move(result.value);
  }
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_BOXING_H_
