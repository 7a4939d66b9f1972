#include "switchboard/core/scalar.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"

namespace sb {
namespace {

TEST_CASE("a scalar remembers what kind of number it was made from", "[core][scalar]") {
  CHECK(Scalar(true).is_bool());
  CHECK(Scalar(3).is_int());
  CHECK(Scalar(uint8_t{3}).is_int());
  CHECK(Scalar(2.5f).is_floating_point());
  CHECK(Scalar(std::complex<float>(1, 2)).is_complex());
  CHECK(Scalar().is_int());
}

TEST_CASE("a scalar's tensor has the default floating-point dtype", "[core][scalar]") {
  CHECK(Scalar(true).dtype() == DType::Bool);
  CHECK(Scalar(1).dtype() == DType::Int64);
  CHECK(Scalar(1.0).dtype() == DType::Float32);
  CHECK(Scalar(std::complex<double>(1, 2)).dtype() == DType::Complex64);
  set_default_dtype(DType::Float64);
  CHECK(Scalar(1.0).dtype() == DType::Float64);
  CHECK(Scalar(std::complex<double>(1, 2)).dtype() == DType::Complex128);
  set_default_dtype(DType::Float32);
}

TEST_CASE("a scalar prints as Python prints the number", "[core][scalar]") {
  const double nan = NAN, inf = INFINITY;
  const std::pair<double, const char*> reals[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {2.5, "2.5"},
      {0.1, "0.1"},
      {1e+16, "1e+16"},
      {1000000000000000.0, "1000000000000000.0"},
      {1.2345678901234568e+17, "1.2345678901234568e+17"},
      {0.0001, "0.0001"},
      {1e-05, "1e-05"},
      {nan, "nan"},
      {inf, "inf"},
      {-inf, "-inf"},
      {5e-324, "5e-324"},
      {1.7976931348623157e+308, "1.7976931348623157e+308"},
      {9007199254740992.0, "9007199254740992.0"},
      {0.3333333333333333, "0.3333333333333333"},
      {9999999999999998.0, "9999999999999998.0"},
      {0.00012345, "0.00012345"},
  };
  for (const auto& [value, text] : reals) CHECK(Scalar(value).to_string() == text);
  const std::pair<std::complex<double>, const char*> complexes[] = {
      {{1.0, 2.0}, "(1+2j)"},      {{1.0, -2.0}, "(1-2j)"},  {{0.0, 2.0}, "2j"},
      {{-0.0, 2.0}, "(-0+2j)"},    {{0.0, -0.0}, "-0j"},     {{1.5, nan}, "(1.5+nanj)"},
      {{inf, -inf}, "(inf-infj)"}, {{0.0, 1e+20}, "1e+20j"}, {{1e-07, 0.0}, "(1e-07+0j)"},
  };
  for (const auto& [value, text] : complexes) CHECK(Scalar(value).to_string() == text);
  CHECK(Scalar(true).to_string() == "True");
  CHECK(Scalar(false).to_string() == "False");
  CHECK(Scalar(INT64_MIN).to_string() == "-9223372036854775808");
}

TEST_CASE("a scalar converts to every element type", "[core][scalar]") {
  for (int i = 0; i < kNumPlainDTypes; ++i) {
    visit_dtype(static_cast<DType>(i), []<class T>() {
      CHECK(Scalar(1).to<T>() == T(1));
      CHECK(Scalar(1.0).to<T>() == T(1));
      CHECK(Scalar(true).to<T>() == T(1));
      CHECK(Scalar(std::complex<double>(1, 0)).to<T>() == T(1));
    });
  }
  CHECK(Scalar(std::complex<double>(1, 2)).to<std::complex<float>>() == std::complex<float>(1, 2));
}

TEST_CASE("a finite number that half or bfloat16 cannot hold is refused", "[core][scalar]") {
  CHECK_THROWS_AS(Scalar(1e5).to<Half>(), RuntimeError);
  CHECK_THROWS_AS(Scalar(-65505).to<Half>(), RuntimeError);
  CHECK_THROWS_AS(Scalar(1e39).to<BFloat16>(), RuntimeError);
  CHECK_THROWS_WITH(Scalar(1e5).to<Half>(),
                    "value cannot be converted without overflow: 100000.0 is beyond 65504.0, the "
                    "largest number of the type");
  CHECK(static_cast<float>(Scalar(65504).to<Half>()) == 65504);
  CHECK(std::isinf(static_cast<float>(Scalar(INFINITY).to<Half>())));
  CHECK(std::isnan(static_cast<float>(Scalar(NAN).to<Half>())));
}

TEST_CASE("an imaginary part is not dropped in silence", "[core][scalar]") {
  CHECK_THROWS_AS(Scalar(std::complex<double>(1, 2)).to<double>(), RuntimeError);
  CHECK_THROWS_WITH(Scalar(std::complex<double>(1, 2)).to<int>(), Catch::Contains("(1+2j)"));
}

TEST_CASE("floating-point values outside of int64 convert to its minimum", "[core][scalar]") {
  CHECK(Scalar(1e300).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(-1e300).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(NAN).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(9223372036854775808.0).to<int64_t>() == INT64_MIN);
}

TEST_CASE("negation keeps the kind, wraps int64 and refuses bool", "[core][scalar]") {
  CHECK(-Scalar(3) == Scalar(-3));
  CHECK(-Scalar(2.5) == Scalar(-2.5));
  CHECK(-Scalar(std::complex<double>(1, -2)) == Scalar(std::complex<double>(-1, 2)));
  CHECK(-Scalar(INT64_MIN) == Scalar(INT64_MIN));
  CHECK_THROWS_AS(-Scalar(true), RuntimeError);
}

TEST_CASE("scalars are equal when kind and value are", "[core][scalar]") {
  CHECK(Scalar(1) == Scalar(int8_t{1}));
  CHECK_FALSE(Scalar(1) == Scalar(1.0));
  CHECK_FALSE(Scalar(1) == Scalar(true));
  CHECK_FALSE(Scalar(NAN) == Scalar(NAN));
}

// A symbol that counts the guards on it.
class Counted : public SymNode {
 public:
  Counted(SymKind kind, std::string text, int* guards)
      : kind_(kind), text_(std::move(text)), guards_(guards) {}
  SymKind kind() const override { return kind_; }
  std::string to_string() const override { return text_; }
  SymValue apply(SymOp op, absl::Span<const SymValue>) const override {
    const SymKind kind = op == SymOp::ToFloat ? SymKind::Float
                         : op == SymOp::Trunc ? SymKind::Int
                                              : kind_;
    return SymValue(IntrusivePtr<const SymNode>(
        make_intrusive<Counted>(kind, str_cat(sb::to_string(op), "(", text_, ")"), guards_)));
  }
  int64_t guard_int(SourceLocation) const override { return ++*guards_, 5; }
  double guard_float(SourceLocation) const override { return ++*guards_, 2.5; }
  bool guard_bool(SourceLocation) const override { return ++*guards_, true; }

 private:
  const SymKind kind_;
  const std::string text_;
  int* const guards_;
};

TEST_CASE("a scalar may be a symbol, of whose kind it is; reading its value guards",
          "[core][scalar]") {
  int guards = 0;
  const Scalar i = SymInt(make_intrusive<Counted>(SymKind::Int, "s0", &guards));
  const Scalar f = SymFloat(make_intrusive<Counted>(SymKind::Float, "f0", &guards));
  const Scalar b = SymBool(make_intrusive<Counted>(SymKind::Bool, "b0", &guards));
  CHECK((i.is_symbolic() && f.is_symbolic() && b.is_symbolic()));
  CHECK((i.is_int() && f.is_floating_point() && b.is_bool()));
  CHECK(i.dtype() == DType::Int64);
  CHECK(f.dtype() == DType::Float32);
  CHECK(i.to_string() == "s0");
  CHECK((-i).to_string() == "-(s0)");
  CHECK((-f).to_string() == "neg(f0)");
  CHECK(f.to_sym_int().to_string() == "trunc(f0)");
  CHECK(i.to_sym_float().to_string() == "float(s0)");
  CHECK(guards == 0);
  CHECK(i.to<double>() == 5);
  CHECK(f.to<int64_t>() == 2);
  CHECK(b.to<bool>());
  CHECK(i.settled() == Scalar(5));
  CHECK(guards == 4);
}

TEST_CASE("a plain symbolic number is a plain scalar", "[core][scalar]") {
  CHECK(Scalar(SymInt(3)) == Scalar(3));
  CHECK(Scalar(SymFloat(2.5)) == Scalar(2.5));
  CHECK(Scalar(SymBool(true)) == Scalar(true));
  CHECK_FALSE(Scalar(SymInt(3)).is_symbolic());
  CHECK(Scalar(3).sym_value().as_int() == 3);
  CHECK(Scalar(3).to_sym_float().expect_float() == 3.0);
  CHECK(Scalar(2.5).to_sym_int().expect_int() == 2);
  CHECK_THROWS_AS(Scalar(std::complex<double>(1, 2)).sym_value(), TypeError);
}

TEST_CASE("copies of a scalar share its symbol, and equal it", "[core][scalar]") {
  int guards = 0;
  const auto node = make_intrusive<Counted>(SymKind::Int, "s0", &guards);
  {
    const Scalar a = SymInt(node);
    Scalar b = a;
    CHECK(node->use_count() == 3);
    CHECK(b == a);
    CHECK_FALSE(b == Scalar(5));
    b = 1;
    CHECK(node->use_count() == 2);
    b = a;
    b = *&b;
    CHECK(node->use_count() == 3);
    CHECK_FALSE(b.is(5));
    CHECK(Scalar(5).is(5));
    CHECK_FALSE(Scalar(5.0).is(5));
  }
  CHECK(node->use_count() == 1);
  CHECK(guards == 0);
}

}  // namespace
}  // namespace sb
