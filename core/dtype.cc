#include "switchboard/core/dtype.h"

#include <iterator>

#include "switchboard/core/error.h"

namespace sb {
namespace {

constexpr std::string_view kNames[] = {
#define SB_DTYPE(name, text, bytes) text,
    SB_FORALL_DTYPES(SB_DTYPE)
#undef SB_DTYPE
};

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr Alias kAliases[] = {
    {"half", DType::Float16},     {"float", DType::Float32},      {"double", DType::Float64},
    {"cfloat", DType::Complex64}, {"cdouble", DType::Complex128}, {"short", DType::Int16},
    {"int", DType::Int32},        {"long", DType::Int64},
};

// As the table in c10/core/ScalarType.h, without complex32.
constexpr DType u1 = DType::UInt8;
constexpr DType i1 = DType::Int8;
constexpr DType i2 = DType::Int16;
constexpr DType i4 = DType::Int32;
constexpr DType i8 = DType::Int64;
constexpr DType f2 = DType::Float16;
constexpr DType f4 = DType::Float32;
constexpr DType f8 = DType::Float64;
constexpr DType c4 = DType::Complex64;
constexpr DType c8 = DType::Complex128;
constexpr DType b1 = DType::Bool;
constexpr DType bf = DType::BFloat16;
// clang-format off
constexpr DType kPromotions[kNumPlainDTypes][kNumPlainDTypes] = {
    //        u1  i1  i2  i4  i8  f2  f4  f8  c4  c8  b1  bf
    /* u1 */ {u1, i2, i2, i4, i8, f2, f4, f8, c4, c8, u1, bf},
    /* i1 */ {i2, i1, i2, i4, i8, f2, f4, f8, c4, c8, i1, bf},
    /* i2 */ {i2, i2, i2, i4, i8, f2, f4, f8, c4, c8, i2, bf},
    /* i4 */ {i4, i4, i4, i4, i8, f2, f4, f8, c4, c8, i4, bf},
    /* i8 */ {i8, i8, i8, i8, i8, f2, f4, f8, c4, c8, i8, bf},
    /* f2 */ {f2, f2, f2, f2, f2, f2, f4, f8, c4, c8, f2, f4},
    /* f4 */ {f4, f4, f4, f4, f4, f4, f4, f8, c4, c8, f4, f4},
    /* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, f8, f8},
    /* c4 */ {c4, c4, c4, c4, c4, c4, c4, c8, c4, c8, c4, c4},
    /* c8 */ {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
    /* b1 */ {u1, i1, i2, i4, i8, f2, f4, f8, c4, c8, b1, bf},
    /* bf */ {bf, bf, bf, bf, bf, f4, f4, f8, c4, c8, bf, bf},
};
// clang-format on

}  // namespace

std::string_view to_string(DType t) {
  const int i = static_cast<int>(t);
  return i < kNumDTypes ? kNames[i] : "unknown";
}

std::ostream& operator<<(std::ostream& out, DType t) { return out << to_string(t); }

std::optional<DType> find_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.dtype;
  }
  return std::nullopt;
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  SB_CHECK(!is_quantized(a) && !is_quantized(b), "promote_types: ", to_string(a), " and ",
           to_string(b), " have no common dtype: a quantized one promotes to no other");
  return kPromotions[static_cast<int>(a)][static_cast<int>(b)];
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating_point(from) && is_integral(to)) return false;
  return from == DType::Bool || to != DType::Bool;
}

namespace internal {
constinit std::atomic<DType> current_default_dtype{DType::Float32};
}

void set_default_dtype(DType t) {
  SB_CHECK_TYPE(is_floating_point(t), "default dtype: expected a floating-point dtype, got ",
                to_string(t));
  internal::current_default_dtype.store(t, std::memory_order_relaxed);
}

}  // namespace sb
