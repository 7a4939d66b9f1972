#include "switchboard/io/exported/expression.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/io/exported/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;

const char* const kS0 = "Symbol('s0', positive=True, integer=True)";

int64_t at(const std::string& text, int64_t s0, int64_t s1 = 0) {
  return Expression::parse(text)
      .evaluate_int({{"s0", SymValue::of_int(s0)}, {"s1", SymValue::of_int(s1)}})
      .expect_int();
}

TEST_CASE("an expression is what sympy.srepr writes", "[io][expression]") {
  CHECK(Expression::parse("Integer(7)").constant() == 7);
  CHECK(Expression::parse(kS0).symbol() == "s0");
  const Expression sum =
      Expression::parse(std::string("Add(Mul(Integer(4), ") + kS0 + "), Integer(-1))");
  CHECK(sum.to_string() == "4*s0 - 1");
  CHECK(Expression::parse("Add(Symbol('s0'), Mul(Integer(-1), Symbol('s1')))").to_string() ==
        "s0 - s1");
  CHECK(Expression::parse("Mul(Integer(3), FloorDiv(Add(Symbol('s0'), Integer(4)), Integer(5)))")
            .to_string() == "3*((s0 + 4)//5)");
  CHECK(sum == Expression::parse(std::string("Add(Mul(Integer(4), ") + kS0 + "), Integer(-1))"));
  CHECK_FALSE(sum == Expression(3));
}

TEST_CASE("functions of expressions compute as Python does", "[io][expression]") {
  CHECK(at("Add(Symbol('s0'), Symbol('s1'), Integer(2))", 3, 4) == 9);
  CHECK(at("FloorDiv(Symbol('s0'), Integer(2))", -3) == -2);
  CHECK(at("PythonMod(Symbol('s0'), Integer(4))", -1) == 3);
  CHECK(at("Max(Integer(1), Symbol('s0'))", 0) == 1);
  CHECK(at("Min(Integer(64), Symbol('s0'))", 100) == 64);
  CHECK(at("Pow(Symbol('s0'), Integer(2))", 5) == 25);
  CHECK(at("Mul(Rational(1, 2), Symbol('s0'), Add(Symbol('s0'), Integer(1)))", 4) == 10);
  CHECK(at("CeilToInt(IntTrueDiv(Symbol('s0'), Integer(3)))", 7) == 3);
  CHECK(at("Piecewise(ExprCondPair(Integer(1), StrictLessThan(Symbol('s0'), Integer(5))), "
           "ExprCondPair(Integer(2), true))",
           9) == 2);
}

TEST_CASE("an expression says what it lacks", "[io][expression]") {
  const Expression two = Expression::parse("Mul(Symbol('s0'), Symbol('u1'))");
  CHECK_FALSE(two.is_known({{"s0", SymValue::of_int(2)}}));
  CHECK(error_of([&] {
          two.evaluate({{"s0", SymValue::of_int(2)}});
        }) == "ValueError: symbol 'u1' has no value");
  CHECK_THAT(error_of([&] { at("FloorDiv(Integer(1), Symbol('s0'))", 0); }),
             Contains("RuntimeError"));
}

TEST_CASE("text that is no expression is refused with its place", "[io][expression]") {
  CHECK_THAT(error_of([] { Expression::parse("Add(Integer(1)"); }), Contains("expected ')'"));
  CHECK_THAT(error_of([] { Expression::parse("Integer(99999999999999999999)"); }),
             Contains("expected an integer that fits int64"));
  CHECK_THAT(error_of([] { Expression::parse("Integer(1) Integer(2)"); }),
             Contains("something after its end"));
  CHECK_THAT(error_of([] { Expression::parse("Gamma(Integer(1))"); }),
             Contains("NotImplementedError") && Contains("the function 'Gamma' is not supported"));
  // A case outside of Piecewise, a symbol that is called like one, and more cases than may nest.
  CHECK_THAT(error_of([] { Expression::parse("ExprCondPair(Integer(2), true)"); }),
             Contains("belongs into Piecewise"));
  CHECK_THAT(error_of([] { Expression::parse("Piecewise(Symbol('ExprCondPair'))"); }),
             Contains("Piecewise needs pairs"));
  std::string cases = "Piecewise(";
  for (int i = 0; i < 100'000; ++i) cases += "ExprCondPair(Integer(1), Symbol('a')), ";
  CHECK_THAT(error_of([&] { Expression::parse(cases + "ExprCondPair(Integer(1), true))"); }),
             Contains("nested too deeply"));
  // Cases within the last case, which are deeper than either.
  std::string within, end;
  for (int level = 0; level < 50; ++level) {
    within += "Piecewise(";
    for (int i = 0; i < 150; ++i) within += "ExprCondPair(Integer(1), Symbol('a')), ";
    within += "ExprCondPair(";
    end += ", true))";
  }
  CHECK_THAT(error_of([&] { Expression::parse(within + "Integer(1)" + end); }),
             Contains("nested too deeply"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "Add(";
  CHECK_THAT(error_of([&] { Expression::parse(deep); }), Contains("nested too deeply"));
}

TEST_CASE("any byte of an expression may be wrong", "[io][expression][fuzz]") {
  const std::string text = "Add(Mul(Integer(4), Symbol('s0', positive=True)), Float('1.5'))";
  for (size_t i = 0; i < text.size(); ++i) {
    error_of([&] { Expression::parse(text.substr(0, i)); });
    for (const char c : {'(', ')', '\'', ',', '9', '\0', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      error_of([&] { Expression::parse(changed); });
    }
  }
}

}  // namespace
}  // namespace sb::io
