#include "switchboard/fake/symbolic/substitution.h"

#include "catch2/catch.hpp"

namespace sb::symbolic {
namespace {

std::string text(const std::optional<SymValue>& value) {
  return value ? SymInt(*value).to_string() : "nothing";
}

TEST_CASE("symbols are numbers, and expressions what these give", "[symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a"), b = env->create_symint(7, "b");
  Substitution values;
  CHECK(text(values.value_of(*a.node())) == "nothing");
  CHECK(values.bind(*a.node(), SymValue::of_int(3)));
  CHECK(text(values.value_of(*(a * a + 1).node())) == "10");
  CHECK(text(values.value_of(*(a * b).node())) == "nothing");
  CHECK(values.bind(*(2 * b + a).node(), SymValue::of_int(11)));
  CHECK(text(values.value_of(*b.node())) == "4");
  CHECK_FALSE(values.bind(*b.node(), SymValue::of_int(5)));
  CHECK(text(values.value_of(*(b / a).node())) == "1");
  CHECK(values.value_of(*(a < b).node())->as_bool());
}

TEST_CASE("a sum of which the rest is no multiple has no such value", "[symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a");
  Substitution values;
  CHECK_FALSE(values.bind(*(2 * a).node(), SymValue::of_int(7)));
  CHECK(values.bind(*(a * a).node(), SymValue::of_int(7)));  // nothing is solved
  CHECK(text(values.value_of(*a.node())) == "nothing");
}

TEST_CASE("a symbol that was found equal to others is what they are", "[symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a"), b = env->create_symint(10, "b");
  CHECK(b == 2 * a);
  Substitution values;
  values.bind(*a.node(), SymValue::of_int(4));
  CHECK(text(values.value_of(*b.node())) == "8");
  CHECK(values.broken_condition() == "");
  values.bind(*b.node(), SymValue::of_int(9));
  CHECK(values.broken_condition() != "");
}

TEST_CASE("what does not hold is told, once everything in it has a value", "[symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a", DimDynamic::Dynamic, 2, 8);
  const SymInt u = env->create_unbacked_symint();
  constrain_range(u, 0, 4);
  Substitution values;
  values.bind(*a.node(), SymValue::of_int(9));
  CHECK(values.broken_condition().starts_with("s0 <= 8, the range of a"));
  Substitution other;
  other.bind(*a.node(), SymValue::of_int(8));
  CHECK(other.broken_condition() == "");
  other.bind(*u.node(), SymValue::of_int(5));
  CHECK(other.broken_condition().starts_with("u0 <= 4, the range of u0"));
}

TEST_CASE("a run inside of another looks up there what it has not", "[symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a"), b = env->create_symint(7, "b");
  const auto outer = std::make_shared<Substitution>();
  outer->bind(*a.node(), SymValue::of_int(3));
  outer->bind(*b.node(), SymValue::of_int(4));
  Substitution inner(outer);
  CHECK(inner.bind(*a.node(), SymValue::of_int(6)));
  CHECK(text(inner.value_of(*(a + b).node())) == "10");
}

TEST_CASE("values may be expressions of another environment", "[symbolic]") {
  const auto env = ShapeEnv::create(), other = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a"), b = env->create_symint(7, "b");
  CHECK(a <= 6);
  const SymInt n = other->create_symint(4, "n"), m = other->create_symint(8, "m");
  Substitution values;
  values.bind(*a.node(), n.value());
  values.bind(*b.node(), SymValue::of_int(3));
  CHECK(text(values.value_of(*(a * b + 1).node())) == "3*s0 + 1");
  CHECK(text(values.value_of(*sym_max(a, b * b).node())) == "Max(s0, 9)");
  CHECK(values.broken_condition() == "");
  CHECK(other->guards().size() == 1);
  CHECK(other->guards()[0].text == "s0 <= 6");
  CHECK_FALSE(values.bind(*a.node(), m.value()));
}

TEST_CASE("overflow is an error", "[symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt a = env->create_symint(5, "a");
  Substitution values;
  values.bind(*a.node(), SymValue::of_int(int64_t{1} << 40));
  CHECK_THROWS_AS(values.value_of(*(a * a).node()), RuntimeError);
}

}  // namespace
}  // namespace sb::symbolic
