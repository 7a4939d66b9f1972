// Questions about several sizes at once, and runs that are kept apart by them.

#include "switchboard/fake/symbolic/conditions.h"

#include "catch2/catch.hpp"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/fake/symbolic/specializations.h"

namespace sb {
namespace {

TEST_CASE("two shapes are the same by one condition", "[fake][symbolic]") {
  const auto env = ShapeEnv::create({.duck_shape = false});
  const SymInt a = env->create_symint(6, "x.size(0)"), b = env->create_symint(6, "y.size(0)");
  const SymBool same = sym_eq({a, 3, 5}, {b, 3, 5});
  CHECK(same.to_string() == "s0 == s1");
  CHECK(env->guards().empty());
  CHECK(guard_bool(same));
  CHECK_FALSE(sym_eq({a}, {a, 1}).expect_bool());
  CHECK_FALSE(sym_eq({a, 3}, {a, 4}).expect_bool());
  CHECK(sym_eq({}, {}).expect_bool());
}

TEST_CASE("a question that only data answers may have an answer for that", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(6, "x.size(0)"), u = env->create_unbacked_symint();
  CHECK_FALSE(guard_or_false(u == 4));
  CHECK(guard_or_true(u == 4));
  CHECK(env->guards().empty());
  CHECK(env->runtime_asserts().empty());
  CHECK(guard_or_false(n == 6));
  CHECK_FALSE(guard_or_true(n == 5));  // known by now
  CHECK(env->guards().size() == 1);
  check(u >= 5);
  CHECK_FALSE(guard_or_true(u == 4));
}

TEST_CASE("a run may be kept from the sizes of another", "[fake][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(6, "x.size(0)"), m = env->create_symint(8, "x.size(1)");
  exclude_sizes({{n, 6}, {m, 9}});
  CHECK(env->evaluate_guards({{"x.size(0)", 6}, {"x.size(1)", 8}}).holds);
  CHECK(env->evaluate_guards({{"x.size(0)", 5}, {"x.size(1)", 9}}).holds);
  CHECK_FALSE(env->evaluate_guards({{"x.size(0)", 6}, {"x.size(1)", 9}}).holds);
  CHECK_THROWS_AS(exclude_sizes({{n, 6}}), ValueError);
}

TEST_CASE("a program may have a run for each kind of size, chosen by its guards",
          "[fake][symbolic]") {
  const auto envs =
      specialized_envs({{"x.size(0)", 8, [](const SymInt& n) { return n == 8; }},
                        {"x.size(0)", 64, [](const SymInt& n) { return n % 64 == 0; }}});
  REQUIRE(envs.size() == 3);
  std::vector<std::string> sizes;
  std::vector<bool> even;
  for (const auto& env : envs) {
    const SymInt n = env->create_symint(5, "x.size(0)");  // at hand in all of them
    sizes.push_back(n.to_string());
    even.push_back(guard_bool(n % 2 == 0));
  }
  CHECK(sizes == std::vector<std::string>{"8", "s0", "s0"});
  CHECK(even == std::vector<bool>{true, true, false});
  const auto chosen = [&](int64_t n) { return first_accepting(envs, {{"x.size(0)", n}}); };
  CHECK(chosen(8) == 0u);
  CHECK(chosen(128) == 1u);
  CHECK(chosen(9) == 2u);
  CHECK(chosen(10) == std::nullopt);
  const auto wrong = specialized_envs({{"x", 7, [](const SymInt& n) { return n == 8; }}});
  CHECK_THROWS_AS(wrong[0]->create_symint(5, "x"), ValueError);
}

TEST_CASE("where an example answers, what it answered is to be stated", "[fake][symbolic]") {
  const auto env = ShapeEnv::create({.on_data_dependent = OnDataDependent::TakeExample});
  const SymInt u = env->create_unbacked_symint();
  CHECK_THROWS_AS(guard_bool(u == 4), GuardOnDataDependentError);  // of nothing yet
  env->bind_unbacked("u0", 4);
  CHECK(guard_bool(u > 2));
  CHECK(guard_bool(u > 2));
  CHECK(u.guard_int() == 4);
  REQUIRE(env->assumed().size() == 2);
  CHECK(env->assumed()[0].text == "u0 >= 3");
  CHECK(env->assumed()[1].text == "u0 == 4");
  CHECK(env->runtime_asserts().size() == 2);
  const SymInt v = env->create_unbacked_symint();
  env->bind_unbacked("u1", 7);
  CHECK_THROWS_AS(check(v == 8), RuntimeError);  // of the program itself
  const SymFloat f = env->create_unbacked_symfloat();
  env->bind_unbacked_float("f0", 0.5);
  CHECK(guard_bool(f < 1.0));
  // Within an operator, who asks may do without an answer.
  const SymReason reason("aten::view");
  CHECK_FALSE(guard_or_false(v == 7));
  CHECK(env->assume_refused());
  CHECK(guard_or_false(v == 7));
  CHECK_FALSE(env->assume_refused());
}

}  // namespace
}  // namespace sb
