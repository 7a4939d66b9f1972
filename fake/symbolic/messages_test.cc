// The whole text of each error of a ShapeEnv and of its expressions.

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/fake/symbolic/expr.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {
namespace {

// This file, as origins name it.
const std::string kHere = std::string(__FILE__) + ":N";

// What f throws, with N for the numbers of lines.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return std::regex_replace(error.what(), std::regex(R"((\.cc):\d+)"), "$1:N");
  }
  return "no error";
}

// Checks that f throws an E with exactly this text, twice: the first time changed nothing.
template <class E, class F>
void refuses(F f, const std::string& text) {
  CHECK_THROWS_AS(f(), E);
  CHECK(error_of(f) == text);
}

// An environment with s0 = 8 and u0, which an operator made.
struct Fixture {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  SymInt s = env->create_symint(8, "x.size(0)");
  SymInt u = make_unbacked();

  SymInt make_unbacked() {
    const SymReason reason("aten::nonzero");
    return env->create_unbacked_symint();
  }
};
const std::string kMade = "u0 was made by aten::nonzero (" + kHere + ")";

TEST_CASE("create_symint refuses what is no size, or not the size that it was",
          "[fake][symbolic]") {
  Fixture f;
  refuses<ValueError>([&] { f.env->create_symint(-1, "y.size(0)"); },
                      "create_symint: y.size(0): expected a size, got -1");
  refuses<ValueError>([&] { f.env->create_symint(8, "y.size(0)", DimDynamic::Dynamic, 9); },
                      "create_symint: y.size(0): its size 8 is not in [9, inf]");
  refuses<ValueError>([&] { f.env->create_symint(8, "y.size(0)", DimDynamic::Static, {}, 7); },
                      "create_symint: y.size(0): its size 8 is not in [0, 7]");
  refuses<ValueError>([&] { f.env->create_symint(9, "x.size(0)"); },
                      "create_symint: x.size(0) was 8 before, and is 9 now");
}

TEST_CASE("evaluate_guards refuses unknown names and missing values", "[fake][symbolic]") {
  Fixture f;
  f.env->create_symint(4, "w.size(0)");
  refuses<ValueError>(
      [&] {
        f.env->evaluate_guards({{"z", 6}});
      },
      "evaluate_guards: no source and no symbol is called z");
  refuses<ValueError>(
      [&] {
        f.env->evaluate_guards({{"s0", 6}});
      },
      "evaluate_guards: no value for s1 (w.size(0))");
}

TEST_CASE("bind_unbacked takes symbols for data only", "[fake][symbolic]") {
  Fixture f;
  f.env->create_unbacked_symfloat();
  for (const std::string& name : std::vector<std::string>{"s0", "f0", "u1"}) {
    refuses<ValueError>([&] { f.env->bind_unbacked(name, 8); },
                        "bind_unbacked: expected an unbacked integer or truth, got " + name);
  }
}

TEST_CASE("a value outside the symbol's range is refused with who made it", "[fake][symbolic]") {
  Fixture f;
  constrain_range(f.u, 0, 10);
  const SymInt v = f.env->create_unbacked_symint();
  constrain_range(v, 3);
  refuses<RuntimeError>([&] { f.env->bind_unbacked("u0", 11); },
                        "bind_unbacked: u0 is 11, expected 0 <= u0 <= 10; it was made by "
                        "aten::nonzero (" +
                            kHere + ")");
  refuses<RuntimeError>([&] { f.env->bind_unbacked("u1", 2); },
                        "bind_unbacked: u1 is 2, expected 3 <= u1; it was made by " + kHere);
}

TEST_CASE("a value that breaks a check is refused with the check, who made it, and its message",
          "[fake][symbolic]") {
  Fixture f;
  const SymInt v = f.env->create_unbacked_symint();
  check(f.u < v, "u is less than v");
  {
    const SymReason reason("aten::view");
    SB_CHECK(v <= f.s, "v is more than the size");
  }
  CHECK(expect_true(v != 3));
  f.env->bind_unbacked("u0", 5);
  refuses<RuntimeError>([&] { f.env->bind_unbacked("u1", 5); },
                        kHere + ": expected u0 < u1 (u is less than v), got u1 = 5");
  refuses<RuntimeError>([&] { f.env->bind_unbacked("u1", 9); },
                        "aten::view (" + kHere + "): expected u1 <= s0 (v <= f.s), got u1 = 9");
  f.env->bind_unbacked("u0", 2);
  refuses<RuntimeError>([&] { f.env->bind_unbacked("u1", 3); },
                        kHere + ": expected u1 != 3, got u1 = 3");
}

TEST_CASE("a value by which a check divides by zero is refused with the check",
          "[fake][symbolic]") {
  Fixture f;
  check(SymInt(12) / f.u == 4);
  refuses<RuntimeError>([&] { f.env->bind_unbacked("u0", 0); },
                        kHere +
                            ": expected 12//u0 == 4, got u0 = 0 (symbolic //: 12 // 0: expected a "
                            "divisor that is not zero)");
}

TEST_CASE("a value that is refused is not kept", "[fake][symbolic]") {
  Fixture f;
  const SymInt v = f.env->create_unbacked_symint();
  check(f.u < v);
  f.env->bind_unbacked("u1", 5);
  CHECK_THROWS_AS(f.env->bind_unbacked("u0", 7), RuntimeError);
  CHECK_NOTHROW(f.env->bind_unbacked("u1", 6));  // 7 < 6 would not hold
}

// Questions about data.

TEST_CASE("a question about data names who asked, who made it and what to state",
          "[fake][symbolic]") {
  Fixture f;
  refuses<GuardOnDataDependentError>(
      [&] { f.u.guard_int(); },
      kHere + ": the value of u0 depends on data: " + kMade +
          "; to go on, state it before: sb::check(u0 == ...); where u0 is a size, "
          "sb::constrain_range_for_size(u0)");
  const std::string truth = "the truth of u0 == 4 depends on data: " + kMade +
                            "; to go on, state it before: sb::check(u0 == 4) or its opposite; "
                            "where u0 is a size, sb::constrain_range_for_size(u0)";
  refuses<GuardOnDataDependentError>([&] { guard_bool(f.u == 4); }, kHere + ": " + truth);
  refuses<GuardOnDataDependentError>([&] { guard_size_oblivious(f.u == 4); }, kHere + ": " + truth);
  refuses<GuardOnDataDependentError>([&] { return bool(f.u == 4); },
                                     "a line that is not known: " + truth);
  const SymReason reason("aten::view");
  refuses<GuardOnDataDependentError>([&] { return bool(f.u == 4); },
                                     "aten::view (" + kHere + "): " + truth);
}

TEST_CASE("a question about two symbols names both, and what is no size yet", "[fake][symbolic]") {
  Fixture f;
  const SymInt v = f.env->create_unbacked_symint();
  constrain_range_for_size(f.u);
  refuses<GuardOnDataDependentError>(
      [&] { guard_bool(f.u == v); },
      kHere + ": the truth of u0 == u1 depends on data: " + kMade + ", u1 was made by " + kHere +
          "; to go on, state it before: sb::check(u0 == u1) or its opposite; where u1 is a size, "
          "sb::constrain_range_for_size(u1)");
  refuses<GuardOnDataDependentError>(
      [&] { guard_bool(f.u == f.s); },
      kHere + ": the truth of s0 == u0 depends on data: " + kMade +
          "; to go on, state it before: sb::check(s0 == u0) or its opposite");
}

TEST_CASE("a question about a float or a truth from data speaks of no size", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymFloat x = env->create_unbacked_symfloat();
  const SymBool b = env->create_unbacked_symbool();
  refuses<GuardOnDataDependentError>(
      [&] { x.guard_float(); }, kHere + ": the value of f0 depends on data: f0 was made by " +
                                    kHere + "; to go on, state it before: sb::check(f0 == ...)");
  refuses<GuardOnDataDependentError>(
      [&] { b.guard_bool(); }, kHere + ": the truth of b0 depends on data: b0 was made by " +
                                   kHere +
                                   "; to go on, state it before: sb::check(b0) or its opposite");
}

TEST_CASE("a question of the wrong kind is refused, and learns nothing", "[fake][symbolic]") {
  Fixture f;
  const SymBool truth = f.s == 9;
  const SymFloat x = f.env->create_unbacked_symfloat();
  const SourceLocation here = SourceLocation::current();
  refuses<TypeError>([&] { f.s.node()->guard_bool(here); },
                     "guard_bool: expected SymBool, got SymInt s0");
  refuses<TypeError>([&] { f.u.node()->guard_size_oblivious(here); },
                     "guard_size_oblivious: expected SymBool, got SymInt u0");
  refuses<TypeError>([&] { f.u.node()->expect_true(here, ""); },
                     "expect_true: expected SymBool, got SymInt u0");
  refuses<TypeError>([&] { f.s.node()->guard_float(here); },
                     "guard_float: expected SymFloat, got SymInt s0");
  refuses<TypeError>([&] { truth.node()->guard_int(here); },
                     "guard_int: expected SymInt, got SymBool s0 == 9");
  refuses<TypeError>([&] { x.node()->guard_int(here); },
                     "guard_int: expected SymInt, got SymFloat f0");
  CHECK(f.env->guards().empty());
  CHECK(f.env->runtime_asserts().empty());
}

// constrain_range.

TEST_CASE("a range that a number cannot lie in is refused with what it is", "[fake][symbolic]") {
  Fixture f;
  const std::string start = "constrain_range: " + kHere + ": ";
  refuses<ValueError>([&] { constrain_range(f.s, 9); }, start + "expected s0 in [9, inf], got 8");
  refuses<ValueError>([&] { constrain_range(f.s, {}, 7); },
                      start + "expected s0 in [-inf, 7], got 8");
  constrain_range(f.u, 0, 10);
  refuses<ValueError>([&] { constrain_range(f.u, 11); },
                      start + "expected u0 in [11, inf], got [0, 10]");
  refuses<ValueError>([&] { constrain_range(f.u * 2, 30); },
                      start + "expected 2*u0 in [30, inf], got [0, 20]");
  refuses<ValueError>([&] { constrain_range(SymInt(3), 9); },
                      start + "expected a number in [9, inf], got 3");
  refuses<ValueError>([&] { constrain_range_for_size(SymInt(-1)); },
                      start + "expected a number in [0, inf], got -1");
  check(f.s == 8);
  refuses<ValueError>([&] { constrain_range(f.s, 9); }, start + "expected s0 in [9, inf], got 8");
  const SymReason reason("aten::view");
  refuses<ValueError>(
      [&] { constrain_range(f.u, 11); },
      "constrain_range: aten::view (" + kHere + "): expected u0 in [11, inf], got [0, 10]");
}

TEST_CASE("a minimum above the maximum is refused", "[fake][symbolic]") {
  Fixture f;
  const std::string text = ": expected a minimum that is not above the maximum, got [5, 4]";
  refuses<ValueError>([&] { constrain_range(f.s, 5, 4); },
                      "constrain_range: " + kHere + ": s0" + text);
  refuses<ValueError>([&] { constrain_range_for_size(f.u, 5, 4); },
                      "constrain_range: " + kHere + ": u0" + text);
}

TEST_CASE("a range that is refused makes no size of a symbol", "[fake][symbolic]") {
  Fixture f;
  constrain_range(f.u, 0, 10);
  CHECK_THROWS_AS(constrain_range_for_size(f.u, 11), ValueError);
  CHECK_FALSE(f.env->symbol("u0")->size_like);
  CHECK(to_string(f.env->symbol("u0")->range) == "[0, 10]");
  constrain_range_for_size(f.u, 0, 10);
  CHECK(f.env->symbol("u0")->size_like);
}

// Numbers that do not go together.

// A symbolic number that no ShapeEnv made.
class Stranger final : public SymNode {
 public:
  std::string to_string() const override { return "n"; }
};

TEST_CASE("numbers of two environments, or of none, do not mix", "[fake][symbolic]") {
  Fixture f, g;
  refuses<RuntimeError>([&] { f.s + g.s * 2; }, "symbolic +: s0 and 2*s0 are of two ShapeEnvs");
  const SymInt stranger(IntrusivePtr<const SymNode>(make_intrusive<Stranger>()));
  refuses<TypeError>([&] { f.s + stranger; }, "ShapeEnv: n is of no ShapeEnv");
  refuses<TypeError>([&] { shape_env_of(*stranger.node()); }, "ShapeEnv: n is of no ShapeEnv");
  refuses<TypeError>([&] { constrain_range(stranger, 1); }, "ShapeEnv: n is of no ShapeEnv");
}

// Expressions.

struct Algebra {
  symbolic::ExprPool pool;
  symbolic::Expr a = pool.symbol(SymKind::Int, "a", false);
  symbolic::Expr b = pool.symbol(SymKind::Int, "b", false);
  symbolic::Expr x = pool.symbol(SymKind::Float, "x", false);
  symbolic::Expr a_is_b = pool.apply(SymOp::Eq, {a, b});

  symbolic::Expr n(int64_t v) { return pool.constant(v); }
};

TEST_CASE("an operation takes as many operands as it has", "[fake][symbolic]") {
  Algebra g;
  refuses<TypeError>([&] { g.pool.apply(SymOp::FloorDiv, {g.a}); },
                     "symbolic //: expected 2 operands, got 1");
  refuses<TypeError>(
      [&] {
        g.pool.apply(SymOp::Neg, {g.a, g.b});
      },
      "symbolic neg: expected 1 operand, got 2");
  refuses<TypeError>([&] { g.pool.apply(SymOp::Add, {}); },
                     "symbolic +: expected 1 operand or more, got 0");
}

TEST_CASE("an operation takes operands of one kind that it is for", "[fake][symbolic]") {
  Algebra g;
  refuses<TypeError>(
      [&] {
        g.pool.apply(SymOp::Add, {g.a, g.a_is_b});
      },
      "symbolic +: expected SymInt, got SymBool a == b");
  refuses<TypeError>(
      [&] {
        g.pool.apply(SymOp::Min, {g.x, g.a});
      },
      "symbolic min: expected SymFloat, got SymInt a");
  refuses<TypeError>(
      [&] {
        g.pool.apply(SymOp::Pow, {g.a, g.b});
      },
      "symbolic pow: not an operation on SymInt");
  refuses<TypeError>([&] { g.pool.apply(SymOp::Neg, {g.a_is_b}); },
                     "symbolic neg: not an operation on SymBool");
  refuses<TypeError>(
      [&] {
        g.pool.apply(SymOp::FloorDiv, {g.x, g.x});
      },
      "symbolic //: not an operation on SymFloat");
  refuses<TypeError>([&] { g.pool.negate(g.a); }, "symbolic !: expected SymBool, got SymInt a");
}

TEST_CASE("a divisor is not zero, now or once there are numbers", "[fake][symbolic]") {
  Algebra g;
  refuses<RuntimeError>(
      [&] {
        g.pool.apply(SymOp::FloorDiv, {g.a, g.n(0)});
      },
      "symbolic //: a // 0: expected a divisor that is not zero");
  refuses<RuntimeError>(
      [&] {
        g.pool.apply(SymOp::Mod, {g.a, g.n(0)});
      },
      "symbolic %: a % 0: expected a divisor that is not zero");
  const symbolic::SymbolValues values = {{g.a, {7, 0}}, {g.b, {0, 0}}};
  refuses<RuntimeError>(
      [&] {
        symbolic::evaluate(g.pool.apply(SymOp::FloorDiv, {g.a, g.b}), values);
      },
      "symbolic //: 7 // 0: expected a divisor that is not zero");
  refuses<RuntimeError>(
      [&] {
        symbolic::evaluate(g.pool.apply(SymOp::Mod, {g.a, g.b}), values);
      },
      "symbolic %: 7 % 0: expected a divisor that is not zero");
}

TEST_CASE("a float that fits no integer is refused where it is rounded", "[fake][symbolic]") {
  Algebra g;
  const symbolic::Expr huge = g.pool.constant_float(1e30);
  refuses<RuntimeError>([&] { g.pool.apply(SymOp::Floor, {huge}); },
                        "symbolic floor: 1e+30 does not fit int64");
  refuses<RuntimeError>([&] { g.pool.apply(SymOp::Ceil, {huge}); },
                        "symbolic ceil: 1e+30 does not fit int64");
  const symbolic::Expr truncated = g.pool.apply(SymOp::Trunc, {g.x});
  const symbolic::SymbolValues values = {{g.x, {0, -1e30}}};
  refuses<RuntimeError>([&] { symbolic::evaluate(truncated, values); },
                        "symbolic trunc: -1e+30 does not fit int64");
}

TEST_CASE("sums and coefficients that do not fit int64 are refused", "[fake][symbolic]") {
  Algebra g;
  const symbolic::SymbolValues values = {{g.a, {INT64_MAX, 0}}, {g.b, {1, 0}}};
  const symbolic::Expr sum = g.pool.add(g.a, g.b), product = g.pool.mul(g.a, g.b);
  refuses<RuntimeError>([&] { symbolic::evaluate(sum, values); },
                        "size overflow: a + b does not fit int64");
  const symbolic::SymbolValues large = {{g.a, {INT64_MAX, 0}}, {g.b, {2, 0}}};
  refuses<RuntimeError>([&] { symbolic::evaluate(product, large); },
                        "size overflow: 9223372036854775807 * 2 does not fit int64");
  const std::string text = "symbolic size overflow: a coefficient does not fit int64";
  const symbolic::Expr most = g.pool.mul(g.a, g.n(INT64_MAX));
  const symbolic::Expr least = g.pool.mul(g.a, g.n(INT64_MIN));
  refuses<RuntimeError>([&] { g.pool.mul(most, g.n(2)); }, text);
  refuses<RuntimeError>([&] { g.pool.add(most, g.a); }, text);
  refuses<RuntimeError>([&] { g.pool.apply(SymOp::FloorDiv, {g.a, g.n(INT64_MIN)}); }, text);
  refuses<RuntimeError>([&] { g.pool.apply(SymOp::Mod, {g.a, g.n(INT64_MIN)}); }, text);
  refuses<RuntimeError>([&] { g.pool.split(least); }, text);
  refuses<RuntimeError>([&] { g.pool.compare_with_zero(SymOp::Eq, least); }, text);
}

}  // namespace
}  // namespace sb
