// What is wanted of the sizes of inputs, before a run.

#include <climits>

#include "catch2/catch.hpp"
#include "switchboard/core/symbols/known.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {
namespace {

using Catch::Contains;
using Texts = std::vector<std::string>;

Texts texts(const ShapeEnv& env) {
  Texts result;
  for (const Guard& g : env.guards()) result.push_back(g.text);
  return result;
}

TEST_CASE("an unbacked dimension has no size at hand, and lies in its range", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(5, "x.size(0)", {.kind = DimDynamic::Unbacked, .max = 64});
  CHECK(n.to_string() == "u0");
  CHECK_FALSE(has_hint(n));
  CHECK_FALSE(guard_size_oblivious(n == 1));
  CHECK_FALSE(bool(n > 64));
  CHECK_THROWS_WITH(guard_bool(n == 5), Contains("u0 == 5") && Contains("u0 was made by"));
  CHECK(env->create_symint(1, "x.size(1)", DimDynamic::Unbacked).is_symbolic());
  check(n % 8 == 0);
  CHECK(env->evaluate_guards({{"x.size(0)", 8}}).holds);
  CHECK(env->evaluate_guards({{"x.size(0)", 9}}).failed == "u0 % 8 == 0");
  CHECK(env->evaluate_guards({{"x.size(0)", 72}}).failed == "0 <= u0 <= 64");
}

TEST_CASE("dimensions of one shape_id are one symbol, backed or not", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymbolicDim batch = {.kind = DimDynamic::Unbacked, .shape_id = "batch"};
  const SymInt a = env->create_symint(5, "x.size(0)", batch);
  const SymInt b = env->create_symint(5, "y.size(0)", batch);
  CHECK(known(a == b));
  CHECK(env->evaluate_guards({{"x.size(0)", 3}, {"y.size(0)", 4}}).failed ==
        "y.size(0) == x.size(0)");
  const SymbolicDim rows = {.shape_id = "rows"};
  env->create_symint(6, "x.size(1)", rows);
  CHECK_THROWS_WITH(env->create_symint(7, "y.size(1)", rows),
                    Contains("y.size(1): its size 7 is not 6, as others of shape_id rows"));
}

TEST_CASE("choices go by another size than the one at hand, and answers do not",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(5, "x.size(0)", {.hint_override = 4096});
  CHECK(stand_in(n * 2) == 8192);
  CHECK(hint(n) == 5);
  CHECK(bool(n < 100));
  CHECK(env->symbol("s0")->hint_override == 4096);
  const SymInt u =
      env->create_symint(5, "x.size(1)", {.kind = DimDynamic::Unbacked, .hint_override = 7});
  CHECK(stand_in(u + n) == 4103);
}

TEST_CASE("where 0 and 1 are not special, they are symbols and nothing asks for them",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create({.duck_shape = false, .size_oblivious = true});
  const SymInt one = env->create_symint(1, "x.size(0)");
  const SymInt n = env->create_symint(6, "x.size(1)");
  CHECK(one.is_symbolic());
  CHECK(env->symbol("s0")->range.low == 0);
  CHECK_FALSE(guard_size_oblivious(one == 1));
  CHECK_FALSE(guard_size_oblivious(n == 0));
  CHECK_FALSE(same_size(n, SymInt(1)));
  CHECK(texts(*env).empty());
  CHECK(env->evaluate_guards({{"x.size(0)", 0}, {"x.size(1)", 1}}).holds);
  // What the program asks itself is a guard, as ever.
  CHECK(bool(n == 6));
  CHECK(texts(*env) == Texts{"s1 == 6"});
}

TEST_CASE("sizes may be stated as expressions of symbols, which the guards check",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt batch = env->create_symint(4, "batch", {.min = 2, .max = 64});
  CHECK(env->state_size(batch, 4, "x.size(0)").to_string() == "s0");
  CHECK(env->state_size(2 * batch + 1, 9, "y.size(0)").to_string() == "2*s0 + 1");
  CHECK(env->state_size(3, 3, "y.size(1)").expect_int() == 3);
  CHECK_THROWS_WITH(env->state_size(batch * 2, 9, "z.size(0)"),
                    Contains("z.size(0): its size 9 is not 2*s0, which is 8"));
  CHECK_THROWS_WITH(env->state_size(batch, 4, "x.size(0)"), Contains("x.size(0) has a size"));
  check(batch % 4 == 0);
  CHECK(env->evaluate_guards({{"x.size(0)", 8}, {"y.size(0)", 17}}).holds);
  CHECK(env->evaluate_guards({{"x.size(0)", 8}, {"y.size(0)", 16}}).failed ==
        "y.size(0) == 2*s0 + 1");
  CHECK(env->evaluate_guards({{"batch", 6}}).failed == "s0 % 4 == 0");
  CHECK(env->evaluate_guards({{"batch", 65}}).failed == "2 <= s0 <= 64");
  CHECK_THAT(env->produce_guards()[3], Contains("y.size(0) == 2*s0 + 1"));
}

TEST_CASE("a dimension that must take every size of its range says which guard takes some away",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const auto strict = [&](const char* source, int64_t hint) {
    return env->create_symint(hint, source, {.constraint = DimConstraint::Strict});
  };
  const SymInt a = strict("x.size(0)", 6), b = strict("y.size(0)", 6), c = strict("z.size(0)", 8);
  CHECK(bool(c > 1));  // so it is
  CHECK_NOTHROW(env->check_constraints());
  CHECK(bool(a == b));
  CHECK(guard_bool(c < 64));
  CHECK(bool(c % 4 == 0));
  const std::vector<ConstraintViolation> found = env->constraint_violations();
  REQUIRE(found.size() == 4);
  CHECK(found[0].source == "x.size(0)");
  CHECK(found[0].text == "s0 == s1");
  CHECK(found[0].mend == "one .shape_id for x.size(0) and y.size(0)");
  CHECK(found[1].source == "y.size(0)");
  CHECK(found[2].text == "s2 <= 63");
  CHECK(found[2].mend == ".max = 63");
  CHECK(found[3].text == "s2 % 4 == 0");
  CHECK_THROWS_AS(env->check_constraints(), ConstraintViolationError);
  CHECK_THROWS_WITH(env->check_constraints(), Contains("inputs_test.cc:") &&
                                                  Contains("z.size(0): s2 <= 63") &&
                                                  Contains("state .max = 63"));
}

TEST_CASE("a dimension that must stay a symbol may have guards, but no number",
          "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(6, "x.size(0)", {.constraint = DimConstraint::Relaxed});
  CHECK(bool(n < 64));
  CHECK_NOTHROW(env->check_constraints());
  n.guard_int();
  CHECK_THROWS_WITH(env->check_constraints(),
                    Contains("s0 == 6") && Contains("DimDynamic::Static"));
  const auto other = ShapeEnv::create();
  other->create_symint(1, "x.size(0)", {.constraint = DimConstraint::Relaxed});
  CHECK_THROWS_WITH(other->check_constraints(),
                    Contains("x.size(0) == 1") && Contains("specialize_zero_one"));
}

}  // namespace
}  // namespace sb
