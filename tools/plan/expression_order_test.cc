#include "switchboard/tools/plan/expression_order.h"

#include "catch2/catch.hpp"
#include "switchboard/core/symbols/known.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb::plan {
namespace {

// Sizes of 2 to 64, and of 1 and more.
struct Symbols {
  IntrusivePtr<ShapeEnv> env =
      ShapeEnv::create({.specialize_zero_one = false, .duck_shape = false});
  SymInt a = env->create_symint(8, "a", DimDynamic::Dynamic, 2, 64);
  SymInt b = env->create_symint(9, "b", DimDynamic::Dynamic, 1);
};

TEST_CASE("what is never less is known, and no guard records it", "[plan]") {
  const Symbols s;
  ExpressionOrder order;
  CHECK(order.at_least(s.a * s.b, s.b));
  CHECK(order.at_least(s.a * s.b * 64, s.b * 128));
  CHECK_FALSE(order.at_least(s.a * s.b * 64, s.b * 129));
  CHECK_FALSE(order.at_least(s.a, s.b));
  // By the end of a range: 64 * a is at least a * a.
  CHECK(order.at_least(s.a * 64 * s.b, s.a * s.a * s.b));
  CHECK_FALSE(order.at_least(s.a * 63 * s.b, s.a * s.a * s.b));
  // Of quotients, what they are rounded from: to 64 and up.
  const SymInt rounded = (s.b * 4 + 63) / 64 * 64;
  CHECK(order.at_least(rounded, s.b * 4));
  CHECK(order.at_least(s.b * 4 + 63, rounded));
  CHECK_FALSE(order.at_least(s.b * 4 + 59, rounded));
  // Of a maximum each operand, of a minimum one.
  CHECK(order.at_least(sym_max(s.a, s.b) + s.a, s.b + 2));
  CHECK(order.at_least(s.a + s.b, sym_max(s.a, s.b)));
  CHECK_FALSE(order.at_least(s.a, sym_max(s.a, s.b)));
  CHECK(order.at_least(s.a, sym_min(s.a, s.b)));
  CHECK(s.env->guards().empty());
}

TEST_CASE("a maximum keeps what may be the largest", "[plan]") {
  const Symbols s;
  ExpressionOrder order;
  const std::vector<SymInt> values = {s.a, s.b, s.a * s.b, s.a * 100, s.a * s.b, 7};
  CHECK(order.candidates(values) == std::vector<size_t>{2, 3});
  CHECK(known(order.largest(values) == sym_max(s.a * s.b, s.a * 100)));
  CHECK(known(order.sum(sym_max(s.a, s.b), s.b * 3) == sym_max(s.a + s.b * 3, s.b * 4)));
  CHECK(order.largest({}).expect_int() == 0);
}

TEST_CASE("what may become less as a symbol grows is not said to grow", "[plan]") {
  const Symbols s;
  CHECK(never_decreases(5));
  CHECK(never_decreases(s.a * s.b * 3 + sym_max(s.a, s.b) + (s.a - 1) / 2 - 7));
  CHECK_FALSE(never_decreases(s.a * s.b - s.a));
  CHECK_FALSE(never_decreases(sym_mod(s.a, 7) + s.a));
}

}  // namespace
}  // namespace sb::plan
