#include "switchboard/core/dtype.h"

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

using enum DType;

// Both tables are what torch 1.13 answers, in the order of the enumerators.
// clang-format off
constexpr DType kPromoted[kNumPlainDTypes][kNumPlainDTypes] = {
    {UInt8, Int16, Int16, Int32, Int64, Float16, Float32, Float64, Complex64, Complex128, UInt8, BFloat16},
    {Int16, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Complex64, Complex128, Int8, BFloat16},
    {Int16, Int16, Int16, Int32, Int64, Float16, Float32, Float64, Complex64, Complex128, Int16, BFloat16},
    {Int32, Int32, Int32, Int32, Int64, Float16, Float32, Float64, Complex64, Complex128, Int32, BFloat16},
    {Int64, Int64, Int64, Int64, Int64, Float16, Float32, Float64, Complex64, Complex128, Int64, BFloat16},
    {Float16, Float16, Float16, Float16, Float16, Float16, Float32, Float64, Complex64, Complex128, Float16, Float32},
    {Float32, Float32, Float32, Float32, Float32, Float32, Float32, Float64, Complex64, Complex128, Float32, Float32},
    {Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64, Complex128, Complex128, Float64, Float64},
    {Complex64, Complex64, Complex64, Complex64, Complex64, Complex64, Complex64, Complex128, Complex64, Complex128, Complex64, Complex64},
    {Complex128, Complex128, Complex128, Complex128, Complex128, Complex128, Complex128, Complex128, Complex128, Complex128, Complex128, Complex128},
    {UInt8, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Complex64, Complex128, Bool, BFloat16},
    {BFloat16, BFloat16, BFloat16, BFloat16, BFloat16, Float32, Float32, Float64, Complex64, Complex128, BFloat16, BFloat16},
};
// clang-format on
constexpr std::string_view kCanCast[kNumPlainDTypes] = {
    "111111111101", "111111111101", "111111111101", "111111111101", "111111111101", "000001111101",
    "000001111101", "000001111101", "000000001100", "000000001100", "111111111111", "000001111101",
};

TEST_CASE("types promote as torch.promote_types", "[core][dtype]") {
  for (int a = 0; a < kNumPlainDTypes; ++a) {
    for (int b = 0; b < kNumPlainDTypes; ++b) {
      CAPTURE(a, b);
      CHECK(promote_types(static_cast<DType>(a), static_cast<DType>(b)) == kPromoted[a][b]);
    }
  }
}

TEST_CASE("results may be written as torch.can_cast says", "[core][dtype]") {
  for (int a = 0; a < kNumPlainDTypes; ++a) {
    for (int b = 0; b < kNumPlainDTypes; ++b) {
      CAPTURE(a, b);
      CHECK(can_cast(static_cast<DType>(a), static_cast<DType>(b)) == (kCanCast[a][b] == '1'));
    }
  }
}

TEST_CASE("a quantized dtype promotes to no other, and stands for no C++ type", "[core][dtype]") {
  CHECK(promote_types(QInt8, QInt8) == QInt8);
  CHECK_THROWS_WITH(promote_types(QInt8, Float32),
                    "promote_types: qint8 and float32 have no common "
                    "dtype: a quantized one promotes to no other");
  CHECK_THROWS_AS(promote_types(Int32, QInt32), RuntimeError);
  CHECK_THROWS_AS(promote_types(QInt8, QUInt8), RuntimeError);
  CHECK_THROWS_AS(visit_dtype(QUInt8, []<class T>() {}), NotImplementedError);
  for (DType t : {QInt8, QUInt8, QInt32}) {
    CHECK(is_quantized(t));
    CHECK_FALSE((is_integral(t, true) || is_floating_point(t) || is_complex(t)));
  }
  CHECK_FALSE(is_quantized(BFloat16));
}

TEST_CASE("dtypes are found by their names and PyTorch's aliases", "[core][dtype]") {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    CHECK(find_dtype(to_string(t)) == t);
  }
  CHECK(find_dtype("half") == Float16);
  CHECK(find_dtype("float") == Float32);
  CHECK(find_dtype("double") == Float64);
  CHECK(find_dtype("long") == Int64);
  CHECK(find_dtype("int") == Int32);
  CHECK(find_dtype("short") == Int16);
  CHECK(find_dtype("cfloat") == Complex64);
  CHECK(find_dtype("float8") == std::nullopt);
  CHECK(find_dtype("") == std::nullopt);
}

TEST_CASE("the default dtype is float32 until it is set to another floating-point one",
          "[core][dtype]") {
  CHECK(default_dtype() == Float32);
  set_default_dtype(Float64);
  CHECK(default_dtype() == Float64);
  CHECK_THROWS_AS(set_default_dtype(Int64), TypeError);
  CHECK_THROWS_AS(set_default_dtype(Complex64), TypeError);
  CHECK(default_dtype() == Float64);
  set_default_dtype(Float32);
}

TEST_CASE("a dtype known at run time leads to code for its C++ type", "[core][dtype]") {
  for (int i = 0; i < kNumPlainDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    CHECK(visit_dtype(t, []<class T>() { return sizeof(T); }) == itemsize(t));
    CHECK(visit_dtype(t, []<class T>() { return dtype_of<T>; }) == t);
  }
}

}  // namespace
}  // namespace sb
