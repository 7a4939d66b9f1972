// Element types and how they promote.

#ifndef SWITCHBOARD_CORE_DTYPE_H_
#define SWITCHBOARD_CORE_DTYPE_H_

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace sb {

// The X-macro of element types: X(enumerator, name, bytes).
#define SB_FORALL_DTYPES(X)       \
  X(UInt8, "uint8", 1)            \
  X(Int8, "int8", 1)              \
  X(Int16, "int16", 2)            \
  X(Int32, "int32", 4)            \
  X(Int64, "int64", 8)            \
  X(Float16, "float16", 2)        \
  X(Float32, "float32", 4)        \
  X(Float64, "float64", 8)        \
  X(Complex64, "complex64", 8)    \
  X(Complex128, "complex128", 16) \
  X(Bool, "bool", 1)              \
  X(BFloat16, "bfloat16", 2)      \
  X(QInt8, "qint8", 1)            \
  X(QUInt8, "quint8", 1)          \
  X(QInt32, "qint32", 4)

// As `c10::ScalarType`.
enum class DType : uint8_t {
#define SB_DTYPE(name, text, bytes) name,
  SB_FORALL_DTYPES(SB_DTYPE)
#undef SB_DTYPE
};
#define SB_DTYPE(...) +1
inline constexpr int kNumDTypes = 0 SB_FORALL_DTYPES(SB_DTYPE);
#undef SB_DTYPE

// Those whose elements are numbers by themselves come first. An element of a quantized dtype means
// (element - zero_point) * scale, with the numbers of its tensor's Quantizer: nothing computes with
// it but the operators of ops/quantized.
inline constexpr int kNumPlainDTypes = static_cast<int>(DType::QInt8);
constexpr bool is_quantized(DType t) { return t >= DType::QInt8; }

namespace internal {
inline constexpr uint8_t kItemSizes[] = {
#define SB_DTYPE(name, text, bytes) bytes,
    SB_FORALL_DTYPES(SB_DTYPE)
#undef SB_DTYPE
};
}  // namespace internal

// Bytes of one element.
constexpr size_t itemsize(DType t) { return internal::kItemSizes[static_cast<int>(t)]; }

constexpr bool is_complex(DType t) { return t == DType::Complex64 || t == DType::Complex128; }
constexpr bool is_floating_point(DType t) {
  return t == DType::Float16 || t == DType::BFloat16 || t == DType::Float32 || t == DType::Float64;
}
constexpr bool is_integral(DType t, bool include_bool = false) {
  return t == DType::Bool ? include_bool : t <= DType::Int64;
}

// float32 for complex64, float64 for complex128, t itself otherwise.
constexpr DType to_real(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}
// complex128 for float64, complex64 for every other real type, t itself for complex ones.
constexpr DType to_complex(DType t) {
  return is_complex(t) ? t : t == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

// "float32", as PyTorch spells it without "torch.".
std::string_view to_string(DType t);
std::ostream& operator<<(std::ostream& out, DType t);
// The dtype of that name, PyTorch's aliases included ("float", "half", "long", ...).
std::optional<DType> find_dtype(std::string_view name);

// The smallest type that both fit in, as `torch.promote_types`. Throws RuntimeError for a quantized
// type and another one.
DType promote_types(DType a, DType b);

// The dtype of a C++ type: dtype_of<float> is DType::Float32. dtype_types.h adds the two 16-bit
// floating-point types, and the way back.
namespace internal {
template <class T>
struct DTypeOf;
#define SB_TYPE(name, ctype)                    \
  template <>                                   \
  struct DTypeOf<ctype> {                       \
    static constexpr DType value = DType::name; \
  };
SB_TYPE(UInt8, uint8_t)
SB_TYPE(Int8, int8_t)
SB_TYPE(Int16, int16_t)
SB_TYPE(Int32, int32_t)
SB_TYPE(Int64, int64_t)
SB_TYPE(Float32, float)
SB_TYPE(Float64, double)
SB_TYPE(Complex64, std::complex<float>)
SB_TYPE(Complex128, std::complex<double>)
SB_TYPE(Bool, bool)
#undef SB_TYPE
}  // namespace internal
template <class T>
inline constexpr DType dtype_of = internal::DTypeOf<T>::value;

// Returns whether a result of type `from` may be written to a tensor of type `to`: complex does not
// go to real, float not to integral, nothing but bool to bool. As `torch.can_cast`.
bool can_cast(DType from, DType to);

namespace internal {
extern constinit std::atomic<DType> current_default_dtype;
}
// The dtype of new floating-point tensors, as `torch.get_default_dtype`. Process-wide; thread-safe.
// Setting one that is not floating-point throws TypeError.
inline DType default_dtype() {
  return internal::current_default_dtype.load(std::memory_order_relaxed);
}
void set_default_dtype(DType t);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_DTYPE_H_
