#include "switchboard/fake/symbolic/shape_env.h"

#include <climits>

#include "catch2/catch.hpp"

namespace sb {
namespace {

using Catch::Contains;

std::vector<std::string> texts(const ShapeEnv& env) {
  std::vector<std::string> result;
  for (const Guard& g : env.guards()) result.push_back(g.text);
  return result;
}
using Texts = std::vector<std::string>;

TEST_CASE("dimensions of one size share a symbol, and 0 and 1 are plain", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "x.size(0)");
  const SymInt b = env->create_symint(5, "y.size(0)");
  const SymInt c = env->create_symint(5, "y.size(1)", DimDynamic::Dynamic);
  CHECK(a.to_string() == "s0");
  CHECK(b.to_string() == "s0");
  CHECK(c.to_string() == "s1");
  CHECK(env->create_symint(1, "x.size(1)").expect_int() == 1);
  CHECK(env->create_symint(0, "x.size(2)").expect_int() == 0);
  CHECK(env->create_symint(7, "x.size(3)", DimDynamic::Static).expect_int() == 7);
  CHECK(hint(a) == 5);
  CHECK(bool(a == b));
  CHECK(env->guards().empty());  // the same symbol: nothing to ask
  CHECK(env->symbol("s0")->sources == Texts{"x.size(0)", "y.size(0)"});
}

TEST_CASE("settings turn duck sizing and 0/1 specialisation off", "[fake][symbolic]") {
  ShapeEnvSettings settings;
  settings.duck_shape = false;
  settings.specialize_zero_one = false;
  CHECK_FALSE(settings == ShapeEnvSettings());
  const auto env = ShapeEnv::create(settings);
  const SymInt a = env->create_symint(1, "x.size(0)");
  const SymInt b = env->create_symint(1, "x.size(1)");
  CHECK(b.to_string() == "s1");
  CHECK(bool(a == 1));
  CHECK(texts(*env) == Texts{"s0 == 1"});
  CHECK_FALSE(bool(b == 0));
  CHECK(env->evaluate_guards({{"s0", 1}, {"s1", 9}}).holds);
  CHECK(env->evaluate_guards({{"s0", 1}, {"s1", 0}}).failed == "s1 != 0");

  settings.assume_static_by_default = true;
  const auto statically = ShapeEnv::create(settings);
  CHECK(statically->create_symint(6, "x.size(0)").expect_int() == 6);
  CHECK(statically->create_symint(6, "x.size(1)", DimDynamic::Duck).is_symbolic());
}

TEST_CASE("a question is recorded once, with who asked it and the sizes at hand",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(6, "x.size(0)");
  const SymInt b = env->create_symint(3, "y.size(0)");
  const uint64_t before = env->version();
  {
    SymReason reason("aten::view");
    CHECK(bool(a > b));
    CHECK(bool(a >= b + 1));  // the same
    CHECK(bool(b < a + 5));   // follows
    CHECK(guard_bool(a % 2 == 0));
  }
  CHECK(env->version() > before);
  REQUIRE(texts(*env) == Texts{"s1 < s0", "s0 % 2 == 0"});
  const Guard first = env->guards()[0];
  CHECK(first.origin.reason == "aten::view");
  CHECK_THAT(to_string(first.origin), Contains("aten::view (") && Contains("shape_env_test.cc:"));
  CHECK(first.hints == std::vector<std::pair<std::string, int64_t>>{{"s0", 6}, {"s1", 3}});
  const uint64_t after = env->version();
  CHECK(bool(a != b));
  CHECK(bool(a >= 2));
  CHECK(env->version() == after);  // both are known
}

TEST_CASE("an equality makes symbols one, or numbers", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(6, "x.size(0)", DimDynamic::Dynamic);
  const SymInt b = env->create_symint(6, "y.size(0)", DimDynamic::Dynamic);
  const SymInt c = env->create_symint(12, "z.size(0)");
  CHECK(bool(a == b));
  CHECK((a + b).to_string() == "2*s0");
  CHECK(bool(c == a + b));
  CHECK((c / a).maybe_int() == 2);
  CHECK(a.maybe_int() == std::nullopt);
  CHECK(b.guard_int() == 6);
  CHECK(a.maybe_int() == 6);
  CHECK(c.maybe_int() == 12);
  CHECK((c * 2).expect_int() == 24);  // what is made from it now is plain
  CHECK(texts(*env) == Texts{"s0 == s1", "2*s0 == s2", "s0 == 6"});
}

TEST_CASE("the guards accept the sizes for which every answer is the same", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(6, "x.size(0)");
  const SymInt same = env->create_symint(6, "y.size(0)");
  const SymInt k = env->create_symint(4, "w.size(0)", DimDynamic::Dynamic, 3, 10);
  env->create_symint(1, "w.size(1)");
  CHECK(same.is_symbolic());
  const auto questions = [](auto n, auto k) {
    return std::vector<bool>{bool(n * k > 20), bool(n % 3 == 0), bool(n / 2 < k),
                             bool(sym_max(n, k) == n)};
  };
  const std::vector<bool> answers = questions(n, k);
  int accepted = 0;
  for (int64_t x = 0; x < 15; ++x) {
    for (int64_t w = 0; w < 15; ++w) {
      const bool expected = x >= 2 && w >= 3 && w <= 10 && questions(x, w) == answers;
      const GuardsResult result =
          env->evaluate_guards({{"x.size(0)", x}, {"y.size(0)", x}, {"w.size(0)", w}});
      INFO(x << ", " << w << ": " << result.failed);
      REQUIRE(result.holds == expected);
      accepted += expected;
    }
  }
  CHECK(accepted > 0);
  CHECK(env->evaluate_guards({{"x.size(0)", 6}, {"y.size(0)", 7}, {"w.size(0)", 4}}).failed ==
        "y.size(0) == x.size(0)");
  CHECK(env->evaluate_guards({{"s0", 6}, {"s1", 4}, {"w.size(1)", 2}}).failed == "w.size(1) == 1");
  CHECK(env->evaluate_guards({{"s0", 1}, {"s1", 4}}).failed == "2 <= s0");
  CHECK_THROWS_WITH(env->evaluate_guards({{"s0", 6}}), Contains("no value for s1 (w.size(0))"));
  CHECK_THROWS_WITH(env->evaluate_guards({{"z", 6}}), Contains("is called z"));
}

TEST_CASE("the guards can be read", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(6, "x.size(0)");
  env->create_symint(6, "y.size(0)");
  env->create_symint(1, "y.size(1)");
  SymReason reason("aten::view");
  CHECK(bool(n % 3 == 0));
  const std::vector<std::string> lines = env->produce_guards();
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], Catch::StartsWith("s0 is x.size(0)  # "));
  CHECK_THAT(lines[1], Catch::StartsWith("2 <= s0  # "));
  CHECK_THAT(lines[2], Catch::StartsWith("y.size(0) == x.size(0)  # "));
  CHECK_THAT(lines[3], Catch::StartsWith("y.size(1) == 1  # "));
  CHECK_THAT(lines[4], Catch::StartsWith("s0 % 3 == 0  # aten::view ("));
}

TEST_CASE("a question about data says what to state before", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  SymInt u;
  {
    SymReason reason("aten::nonzero");
    u = env->create_unbacked_symint();
  }
  CHECK(u.to_string() == "u0");
  CHECK_FALSE(has_hint(u));
  SymReason reason("aten::view");
  CHECK_THROWS_AS(bool(u == 4), GuardOnDataDependentError);
  CHECK_THROWS_WITH(bool(u == 4),
                    Contains("aten::view (") &&
                        Contains("the truth of u0 == 4 depends on data: u0 was made by "
                                 "aten::nonzero (") &&
                        Contains("sb::check(u0 == 4)") &&
                        Contains("sb::constrain_range_for_size(u0)"));
  CHECK_THROWS_WITH(u.guard_int(), Contains("the value of u0 depends on data") &&
                                       Contains("sb::check(u0 == ...)"));
  CHECK(env->guards().empty());
}

TEST_CASE("a check on data waits until the data is there", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt u = env->create_unbacked_symint();
  const SymInt v = env->create_unbacked_symint();
  const SymInt s = env->create_symint(8, "x.size(0)");
  check(u < v, "u is less than v");
  SB_CHECK(v <= s, "v is more than the size");
  CHECK(bool(u < v));  // stated
  CHECK_FALSE(bool(u >= v));
  REQUIRE(env->runtime_asserts().size() == 2);
  CHECK(env->runtime_asserts("u0").size() == 1);
  CHECK(env->runtime_asserts("u0")[0].text == "u0 < u1");
  CHECK(env->runtime_asserts("u1")[1].message == "v <= s");
  CHECK_THROWS_AS(SB_CHECK(u >= v, "the opposite of what was stated"), RuntimeError);

  env->bind_unbacked("u0", 5);
  CHECK_THROWS_WITH(env->bind_unbacked("u1", 5),
                    Contains("expected u0 < u1 (u is less than v), got u1 = 5"));
  CHECK_THROWS_WITH(env->bind_unbacked("u1", 9), Contains("expected u1 <= s0"));
  env->bind_unbacked("u1", 8);
  CHECK_THROWS_AS(env->bind_unbacked("s0", 8), ValueError);
  CHECK(env->evaluate_guards({{"s0", 8}, {"u0", 1}, {"u1", 2}}).holds);
  CHECK(env->evaluate_guards({{"s0", 8}, {"u0", 2}, {"u1", 2}}).failed == "u0 < u1");
}

TEST_CASE("a check on sizes at hand is a guard", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt s = env->create_symint(8, "x.size(0)");
  SB_CHECK(s % 4 == 0, "not divisible");
  CHECK(texts(*env) == Texts{"s0 % 4 == 0"});
  CHECK(env->runtime_asserts().empty());
  CHECK_THROWS_WITH([&] { SB_CHECK(s == 9, "expected 9, got ", s.to_string()); }(),
                    Contains("expected 9, got s0"));
}

TEST_CASE("data that is stated to equal a size is that size", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt s = env->create_symint(8, "x.size(0)");
  const SymInt u = env->create_unbacked_symint();
  check(u == s);
  CHECK(u.to_string() == "s0");
  CHECK(hint(u) == 8);
  CHECK_FALSE(bool(u == 9));
  CHECK(texts(*env) == Texts{"s0 != 9"});
  const SymBool b = env->create_unbacked_symbool();
  CHECK_THROWS_AS(bool(b), GuardOnDataDependentError);
  check(!b);
  CHECK_FALSE(bool(b));
}

TEST_CASE("a size from data has a range and counts as at least 2 where asked so",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt u = env->create_unbacked_symint();
  CHECK_THROWS_AS(guard_size_oblivious(u == 1), GuardOnDataDependentError);
  constrain_range_for_size(u, 0, 10);
  CHECK_FALSE(guard_size_oblivious(u == 1));
  CHECK_FALSE(guard_size_oblivious(u == 0));
  CHECK_FALSE(guard_size_oblivious(u * 3 == 3));
  CHECK(bool(u >= 0));
  CHECK_FALSE(bool(u > 10));
  CHECK_THROWS_AS(bool(u == 1), GuardOnDataDependentError);  // it may be 1 all the same
  CHECK_THROWS_AS(guard_size_oblivious(u == 5), GuardOnDataDependentError);
  CHECK_THROWS_WITH(constrain_range(u, 11), Contains("expected u0 in [11, inf], got [0, 10]"));
  CHECK_THROWS_WITH(env->bind_unbacked("u0", 11), Contains("u0 is 11, expected 0 <= u0 <= 10"));
  env->bind_unbacked("u0", 1);
  CHECK(env->symbol("u0")->size_like);
  CHECK(env->guards().empty());
  constrain_range(u, 4, 4);
  CHECK(u.maybe_int() == 4);
}

TEST_CASE("a range of a size at hand is a guard, and must hold", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt s = env->create_symint(8, "x.size(0)");
  constrain_range(s, 3, 20);
  CHECK(texts(*env) == Texts{"s0 >= 3", "s0 <= 20"});
  CHECK_THROWS_AS(constrain_range(s, 9), ValueError);
  CHECK_THROWS_AS(constrain_range(SymInt(3), 9), ValueError);
  CHECK_THROWS_AS(constrain_range(s, 5, 4), ValueError);
  CHECK_THROWS_WITH(env->create_symint(8, "y", DimDynamic::Dynamic, 9),
                    Contains("not in [9, inf]"));
  CHECK_THROWS_AS(env->create_symint(-1, "z"), ValueError);
  CHECK_THROWS_WITH(env->create_symint(9, "x.size(0)"), Contains("was 8 before, and is 9 now"));
}

TEST_CASE("suppressed questions are answered and leave no trace", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const auto other = ShapeEnv::create();
  const SymInt s = env->create_symint(8, "x.size(0)");
  const SymInt t = other->create_symint(8, "x.size(0)");
  const uint64_t version = env->version();
  {
    ShapeEnv::SuppressGuards suppress(*env);
    CHECK(bool(s == 8));
    CHECK(bool(t == 8));
  }
  CHECK(env->version() == version);
  CHECK(env->guards().empty());
  CHECK(other->guards().size() == 1);
  CHECK_FALSE(s.maybe_int());
}

TEST_CASE("numbers of two environments do not mix", "[fake][symbolic]") {
  const auto a = ShapeEnv::create();
  const auto b = ShapeEnv::create();
  const SymInt s = a->create_symint(8, "x");
  const SymInt t = b->create_symint(8, "x");
  CHECK_THROWS_WITH(s + t, Contains("two ShapeEnvs"));
}

TEST_CASE("floats of symbols round back to sizes", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt s = env->create_symint(8, "x.size(0)");
  CHECK(sym_floor(sym_float(s)).to_string() == "s0");
  const SymInt scaled = sym_floor(sym_float(s) * 1.5);
  CHECK(scaled.to_string() == "floor(float(s0)*1.5)");
  CHECK(hint(scaled) == 12);
  CHECK(bool(scaled == 12));
  CHECK(sym_true_div(s, 2).guard_float() == 4.0);
  const SymFloat f = env->create_unbacked_symfloat();
  CHECK((f + 1.0).to_string() == "f0 + 1");
  CHECK_THROWS_AS(f.guard_float(), GuardOnDataDependentError);
  SB_CHECK(f > 0.0, "not positive");
  CHECK(bool(f > 0.0));
}

TEST_CASE("symbols outlive the handle of their environment", "[fake][symbolic]") {
  SymInt s;
  {
    const auto env = ShapeEnv::create();
    s = env->create_symint(8, "x") * 2 + 1;
  }
  CHECK(s.to_string() == "2*s0 + 1");
  CHECK(shape_env_of(*s.node()).symbols().size() == 1);
}

TEST_CASE("long chains of sizes and of questions take no time to speak of", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(8, "x.size(0)");
  const SymInt u = env->create_unbacked_symint();
  SymInt chain = n;
  for (int i = 0; i < 10000; ++i) chain = chain / (n + i) + u;
  CHECK(chain.to_string().size() < 10000);
  SymInt sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += env->create_symint(i + 2, str_cat("x.size(", i + 1, ")"));
    CHECK(bool(sum >= i));
  }
  CHECK(env->guards().size() < 5);
}

TEST_CASE("settings say what is done where a size becomes a number", "[fake][symbolic]") {
  const auto how = GENERATE(OnSettle::Allow, OnSettle::Record, OnSettle::Throw);
  const auto env = ShapeEnv::create({.on_settle = how});
  const SymInt a = env->create_symint(5, "x.size(0)");
  const SymInt b = env->create_symint(6, "x.size(1)");
  const SymReason reason("demo::narrow");
  // What leaves a symbol a symbol settles nothing.
  CHECK(a < b);
  CHECK(env->settled().empty());
  if (how == OnSettle::Throw) {
    CHECK_THROWS_AS(a.guard_int(), SettledSymbolError);
    CHECK_THROWS_WITH(guard_bool(a == 5), Contains("demo::narrow (") &&
                                              Contains("settles s0 (x.size(0)), so that s0 == 5"));
    CHECK_THROWS_AS((a * b).guard_int(), SettledSymbolError);
    CHECK(texts(*env) == Texts{"s0 < s1"});
    return;
  }
  CHECK(a.guard_int() == 5);
  CHECK(guard_bool(b + 1 == 7));
  CHECK(texts(*env).size() == 3);
  if (how == OnSettle::Allow) {
    CHECK(env->settled().empty());
    return;
  }
  REQUIRE(env->settled().size() == 2);
  CHECK(env->settled()[0].symbol == "s0");
  CHECK(env->settled()[0].text == "s0 == 5");
  CHECK(env->settled()[0].was_read);
  CHECK(env->settled()[0].origin.reason == "demo::narrow");
  CHECK_FALSE(env->settled()[1].was_read);
  CHECK(env->settled()[1].sources == Texts{"x.size(1)"});
}

TEST_CASE("to settle a size that was marked dynamic is an error that shows both places",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt marked = env->create_symint(5, "x.size(0)");
  const SymInt other = env->create_symint(6, "x.size(1)");
  env->mark_dynamic(marked);
  CHECK(other.guard_int() == 6);
  const SymReason reason("demo::narrow");
  CHECK_THROWS_WITH(marked.guard_int(), Contains("demo::narrow (") && Contains("settles s0") &&
                                            Contains("; marked dynamic by ") &&
                                            Contains("shape_env_test.cc"));
  CHECK(texts(*env) == Texts{"s1 == 6"});
  CHECK_THROWS_AS(env->mark_dynamic(env->create_unbacked_symint()), ValueError);
  CHECK_THROWS_AS(env->mark_dynamic(4), ValueError);
}

}  // namespace
}  // namespace sb
