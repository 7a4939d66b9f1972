// The C++ types of schema types, in both directions: the argument and return types of a schema, and
// the type code of a kernel's parameter.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_CPP_TYPES_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_CPP_TYPES_H_

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/dispatch/schema/type.h"

namespace sb {

// A list that may be absent: `int[]?`. Converts from everything that the list converts from, braces
// included: sum(x, {0}). Does not own its elements.
template <class Span>
class OptionalSpan : public std::optional<Span> {
 public:
  using std::optional<Span>::optional;
  template <class T>
  requires(std::is_convertible_v<T&&, Span> && !std::is_base_of_v<OptionalSpan, std::decay_t<T>>)
      OptionalSpan(T&& list)
      : std::optional<Span>(Span(std::forward<T>(list))) {}  // NOLINT
  OptionalSpan(std::initializer_list<typename Span::value_type> list)
      : std::optional<Span>(Span(list.begin(), list.size())) {}
};
using OptionalIntArrayRef = OptionalSpan<IntArrayRef>;
using OptionalSymIntArrayRef = OptionalSpan<SymIntArrayRef>;
using OptionalDoubleArrayRef = OptionalSpan<absl::Span<const double>>;

namespace internal {

constexpr TypeCode list_of(TypeCode c) { return with_modifier(c, TypeModifier::List); }
constexpr TypeCode optional_of(TypeCode c) { return with_modifier(c, TypeModifier::Optional); }

// The one list of schema types that have a C++ type of their own:
// X(code, type of an argument, type of a return).
#define SB_T(base) type_code(BaseType::base)
#define SB_FORALL_CPP_TYPES(X)                                                                     \
  X(SB_T(Tensor), const Tensor&, Tensor)                                                           \
  X(optional_of(SB_T(Tensor)), const std::optional<Tensor>&, std::optional<Tensor>)                \
  X(list_of(SB_T(Tensor)), TensorList, std::vector<Tensor>)                                        \
  X(list_of(optional_of(SB_T(Tensor))), OptionalTensorList, std::vector<std::optional<Tensor>>)    \
  X(optional_of(list_of(SB_T(Tensor))), OptionalSpan<TensorList>,                                  \
    std::optional<std::vector<Tensor>>)                                                            \
  X(SB_T(Int), int64_t, int64_t)                                                                   \
  X(optional_of(SB_T(Int)), std::optional<int64_t>, std::optional<int64_t>)                        \
  X(list_of(SB_T(Int)), IntArrayRef, std::vector<int64_t>)                                         \
  X(optional_of(list_of(SB_T(Int))), OptionalIntArrayRef, std::optional<std::vector<int64_t>>)     \
  X(SB_T(SymInt), const SymInt&, SymInt)                                                           \
  X(optional_of(SB_T(SymInt)), const std::optional<SymInt>&, std::optional<SymInt>)                \
  X(list_of(SB_T(SymInt)), SymIntArrayRef, std::vector<SymInt>)                                    \
  X(optional_of(list_of(SB_T(SymInt))), OptionalSymIntArrayRef,                                    \
    std::optional<std::vector<SymInt>>)                                                            \
  X(SB_T(Float), double, double)                                                                   \
  X(optional_of(SB_T(Float)), std::optional<double>, std::optional<double>)                        \
  X(list_of(SB_T(Float)), absl::Span<const double>, std::vector<double>)                           \
  X(optional_of(list_of(SB_T(Float))), OptionalDoubleArrayRef, std::optional<std::vector<double>>) \
  X(SB_T(Bool), bool, bool)                                                                        \
  X(optional_of(SB_T(Bool)), std::optional<bool>, std::optional<bool>)                             \
  X(list_of(SB_T(Bool)), absl::Span<const bool>, std::vector<bool>)                                \
  X(SB_T(Complex), std::complex<double>, std::complex<double>)                                     \
  X(SB_T(Scalar), const Scalar&, Scalar)                                                           \
  X(optional_of(SB_T(Scalar)), const std::optional<Scalar>&, std::optional<Scalar>)                \
  X(list_of(SB_T(Scalar)), absl::Span<const Scalar>, std::vector<Scalar>)                          \
  X(SB_T(Str), std::string_view, std::string)                                                      \
  X(optional_of(SB_T(Str)), std::optional<std::string_view>, std::optional<std::string>)           \
  X(SB_T(DType), DType, DType)                                                                     \
  X(optional_of(SB_T(DType)), std::optional<DType>, std::optional<DType>)                          \
  X(SB_T(Layout), Layout, Layout)                                                                  \
  X(optional_of(SB_T(Layout)), std::optional<Layout>, std::optional<Layout>)                       \
  X(SB_T(MemoryFormat), MemoryFormat, MemoryFormat)                                                \
  X(optional_of(SB_T(MemoryFormat)), std::optional<MemoryFormat>, std::optional<MemoryFormat>)     \
  X(SB_T(Device), Device, Device)                                                                  \
  X(optional_of(SB_T(Device)), std::optional<Device>, std::optional<Device>)                       \
  X(SB_T(Generator), const Generator&, Generator)                                                  \
  X(optional_of(SB_T(Generator)), const std::optional<Generator>&, std::optional<Generator>)       \
  X(SB_T(Storage), const Storage&, Storage)

// Everything else is seen as an IValue.
template <TypeCode code>
struct CppType {
  using Argument = const IValue&;
  using Return = IValue;
};
template <class T>
struct CodeOfArgument;
template <class T>
struct CodeOfReturn;

#define SB_CPP_TYPE(code, argument, result)       \
  template <>                                     \
  struct CppType<code> {                          \
    using Argument = argument;                    \
    using Return = result;                        \
  };                                              \
  template <>                                     \
  struct CodeOfArgument<std::decay_t<argument>> { \
    static constexpr TypeCode value = code;       \
  };                                              \
  template <>                                     \
  struct CodeOfReturn<result> {                   \
    static constexpr TypeCode value = code;       \
  };
SB_FORALL_CPP_TYPES(SB_CPP_TYPE)
#undef SB_CPP_TYPE
template <>
struct CodeOfArgument<IValue> {
  static constexpr TypeCode value = kDeepType;
};
template <>
struct CodeOfReturn<IValue> {
  static constexpr TypeCode value = kDeepType;
};

// No, one or several returns.
template <class... T>
struct Returns {
  using Type = std::tuple<T...>;
};
template <class T>
struct Returns<T> {
  using Type = T;
};
template <>
struct Returns<> {
  using Type = void;
};

}  // namespace internal

// The C++ parameter of a schema type.
template <TypeCode code>
using argument_type = typename internal::CppType<code>::Argument;
template <TypeCode code>
using return_type = typename internal::CppType<code>::Return;

// True if T is the C++ type of some schema type.
template <class T>
concept SchemaArgument = requires {
  internal::CodeOfArgument<std::decay_t<T>>::value;
};
template <class T>
concept SchemaReturn = requires {
  internal::CodeOfReturn<std::decay_t<T>>::value;
};

// True if a function R(A...) has exactly the C++ types of some schema's: `const Scalar&` and not
// Scalar, int64_t and not `const int64_t&`. Others with the same type codes are called differently.
namespace internal {
template <class R>
inline constexpr bool is_exact_return = SchemaReturn<R>&& std::is_same_v<R, std::decay_t<R>>;
template <>
inline constexpr bool is_exact_return<void> = true;
template <class... R>
inline constexpr bool is_exact_return<std::tuple<R...>> = (is_exact_return<R> && ...);
template <class A>
inline constexpr bool is_exact_argument = false;
template <SchemaArgument A>
inline constexpr bool is_exact_argument<A> =
    std::is_same_v<A, argument_type<CodeOfArgument<std::decay_t<A>>::value>>;
}  // namespace internal
template <class R, class... A>
concept ExactSignature = internal::is_exact_return<R> &&(internal::is_exact_argument<A>&&...);

// The type codes of a C++ function, to compare with a schema at run time. kDeepType stands for
// IValue, which fits every type without a C++ type of its own.
struct CppSignature {
  absl::Span<const TypeCode> arguments;
  absl::Span<const TypeCode> returns;
};

namespace internal {

template <class R>
struct ReturnCodes {
  static constexpr TypeCode codes[] = {CodeOfReturn<std::decay_t<R>>::value};
  static constexpr absl::Span<const TypeCode> span() { return codes; }
};
template <>
struct ReturnCodes<void> {
  static constexpr absl::Span<const TypeCode> span() { return {}; }
};
template <class... R>
struct ReturnCodes<std::tuple<R...>> {
  static constexpr TypeCode codes[] = {CodeOfReturn<R>::value...};
  static constexpr absl::Span<const TypeCode> span() { return codes; }
};

template <class R, class... A>
struct SignatureCodes {
  static constexpr TypeCode codes[] = {CodeOfArgument<std::decay_t<A>>::value..., 0};
  static constexpr CppSignature value{absl::Span<const TypeCode>(codes, sizeof...(A)),
                                      ReturnCodes<R>::span()};
};

}  // namespace internal

template <class R, class... A>
inline constexpr const CppSignature& cpp_signature = internal::SignatureCodes<R, A...>::value;

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_CPP_TYPES_H_
