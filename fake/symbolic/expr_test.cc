#include "switchboard/fake/symbolic/expr.h"

#include <random>

#include "catch2/catch.hpp"
#include "switchboard/fake/symbolic/facts.h"
#include "switchboard/fake/symbolic/value_range.h"

namespace sb::symbolic {
namespace {

// A pool with three integer symbols, and short names for what it makes.
struct Algebra {
  ExprPool pool;
  Expr a = pool.symbol(SymKind::Int, "a", false);
  Expr b = pool.symbol(SymKind::Int, "b", false);
  Expr c = pool.symbol(SymKind::Int, "c", false);

  Expr n(int64_t v) { return pool.constant(v); }
  Expr add(Expr x, Expr y) { return pool.add(x, y); }
  Expr mul(Expr x, Expr y) { return pool.mul(x, y); }
  Expr div(Expr x, Expr y) { return pool.apply(SymOp::FloorDiv, {x, y}); }
  Expr mod(Expr x, Expr y) { return pool.apply(SymOp::Mod, {x, y}); }
};

TEST_CASE("sums and products that are equal are one expression", "[fake][symbolic][expr]") {
  Algebra g;
  CHECK(g.add(g.a, g.b) == g.add(g.b, g.a));
  CHECK(g.pool.sub(g.add(g.a, g.b), g.b) == g.a);
  const Expr square = g.mul(g.add(g.a, g.n(1)), g.add(g.a, g.n(-1)));
  CHECK(square == g.pool.sub(g.mul(g.a, g.a), g.n(1)));
  CHECK(to_string(square) == "a*a - 1");
  CHECK(to_string(g.pool.sub(g.mul(g.n(2), g.a), g.mul(g.n(3), g.b))) == "2*a - 3*b");
}

TEST_CASE("floor division takes out what divides", "[fake][symbolic][expr]") {
  Algebra g;
  CHECK(g.div(g.mul(g.a, g.n(6)), g.n(3)) == g.mul(g.a, g.n(2)));
  CHECK(g.div(g.mul(g.a, g.b), g.b) == g.a);
  CHECK(g.div(g.mul(g.mul(g.a, g.b), g.c), g.mul(g.a, g.c)) == g.b);
  CHECK(g.div(g.mul(g.a, g.add(g.b, g.n(1))), g.add(g.b, g.n(1))) == g.a);
  CHECK(g.div(g.div(g.a, g.n(2)), g.n(3)) == g.div(g.a, g.n(6)));
  CHECK(g.div(g.add(g.div(g.a, g.n(2)), g.n(1)), g.n(2)) == g.div(g.add(g.a, g.n(2)), g.n(4)));
  CHECK(g.div(g.mul(g.a, g.n(4)), g.n(6)) == g.div(g.mul(g.a, g.n(2)), g.n(3)));
  CHECK(to_string(g.div(g.add(g.a, g.n(-1)), g.n(2))) == "(a + 1)//2 - 1");
  CHECK_THROWS_WITH(g.div(g.a, g.n(0)), Catch::Contains("a // 0"));
}

TEST_CASE("a quotient that is a factor, or negative, has brackets, as Python must read it",
          "[fake][symbolic][expr]") {
  Algebra g;
  const Expr quotient = g.div(g.add(g.a, g.n(4)), g.n(5));
  CHECK(to_string(quotient) == "(a + 4)//5");
  CHECK(to_string(g.mul(g.n(3), quotient)) == "3*((a + 4)//5)");
  CHECK(to_string(g.mul(g.n(-1), quotient)) == "-((a + 4)//5)");
  CHECK(to_string(g.mul(g.b, quotient)) == "b*((a + 4)//5)");
  CHECK(to_string(g.add(g.b, quotient)) == "b + (a + 4)//5");
  CHECK(to_string(g.pool.sub(g.b, quotient)) == "b - (a + 4)//5");
}

TEST_CASE("remainders drop what divides", "[fake][symbolic][expr]") {
  Algebra g;
  CHECK(g.mod(g.mul(g.a, g.n(6)), g.n(3)) == g.n(0));
  CHECK(g.mod(g.add(g.mul(g.a, g.n(4)), g.b), g.n(4)) == g.mod(g.b, g.n(4)));
  CHECK(g.mod(g.mul(g.a, g.b), g.a) == g.n(0));
  CHECK(g.mod(g.mod(g.a, g.n(12)), g.n(4)) == g.mod(g.a, g.n(4)));
  CHECK(g.mod(g.mul(g.a, g.n(2)), g.n(6)) == g.mul(g.n(2), g.mod(g.a, g.n(3))));
  CHECK_THROWS_WITH(g.mod(g.a, g.n(0)), Catch::Contains("a % 0"));
}

TEST_CASE("minima and maxima are flat and keep no operand that never counts",
          "[fake][symbolic][expr]") {
  Algebra g;
  const auto max = [&](Expr x, Expr y) { return g.pool.apply(SymOp::Max, {x, y}); };
  CHECK(max(max(g.a, g.b), g.a) == max(g.b, g.a));
  CHECK(max(g.a, g.add(g.a, g.n(1))) == g.add(g.a, g.n(1)));
  CHECK(to_string(max(g.n(3), max(g.a, g.n(5)))) == "Max(a, 5)");
}

TEST_CASE("a comparison loses its common factor", "[fake][symbolic][expr]") {
  Algebra g;
  const auto text = [&](SymOp op, Expr x, Expr y) { return to_string(g.pool.apply(op, {x, y})); };
  CHECK(text(SymOp::Eq, g.mul(g.n(2), g.a), g.n(10)) == "a == 5");
  CHECK(text(SymOp::Eq, g.mul(g.n(2), g.a), g.n(9)) == "False");
  CHECK(text(SymOp::Ne, g.a, g.mul(g.n(2), g.b)) == "a != 2*b");
  CHECK(text(SymOp::Gt, g.mul(g.n(3), g.a), g.n(7)) == "a >= 3");
  CHECK(text(SymOp::Lt, g.a, g.b) == "a < b");
  CHECK(text(SymOp::Le, g.add(g.a, g.n(2)), g.b) == "a + 2 <= b");
  CHECK(text(SymOp::Eq, g.mul(g.n(4), g.div(g.a, g.n(4))), g.a) == "a % 4 == 0");
  CHECK(g.pool.negate(g.pool.apply(SymOp::Lt, {g.a, g.b})) == g.pool.apply(SymOp::Ge, {g.a, g.b}));
}

TEST_CASE("conditions join without repeating, and notice a contradiction",
          "[fake][symbolic][expr]") {
  Algebra g;
  const Expr x = g.pool.apply(SymOp::Eq, {g.a, g.b});
  const Expr y = g.pool.apply(SymOp::Eq, {g.a, g.c});
  const auto both = [&](Expr p, Expr q) { return g.pool.apply(SymOp::And, {p, q}); };
  CHECK(both(both(x, y), x) == both(y, x));
  CHECK(to_string(both(x, g.pool.negate(x))) == "False");
  CHECK(to_string(g.pool.apply(SymOp::Or, {x, g.pool.negate(x)})) == "True");
  CHECK(to_string(both(x, y)) == "(a == b) & (a == c)");
}

// Builds the same random expression twice: simplified, and as a number.
class RandomExpr {
 public:
  RandomExpr(Algebra& g, std::mt19937& rng, std::vector<int64_t> values)
      : g_(g), rng_(rng), values_(std::move(values)) {}

  // nullopt as the number where it divides by 0.
  std::pair<Expr, int64_t> make(int depth) {
    if (depth == 0 || pick(5) == 0) {
      const int64_t which = pick(4);
      if (which == 3) {
        const int64_t v = pick(15) - 5;
        return {g_.n(v), v};
      }
      const Expr symbols[] = {g_.a, g_.b, g_.c};
      return {symbols[which], values_[static_cast<size_t>(which)]};
    }
    const SymOp ops[] = {SymOp::Add, SymOp::Sub, SymOp::Mul, SymOp::FloorDiv,
                         SymOp::Mod, SymOp::Min, SymOp::Max, SymOp::Neg};
    const SymOp op = ops[pick(8)];
    const auto [x, vx] = make(depth - 1);
    if (op == SymOp::Neg) return {g_.pool.apply(op, {x}), -vx};
    auto [y, vy] = make(op == SymOp::Mul ? 1 : depth - 1);
    if ((op == SymOp::FloorDiv || op == SymOp::Mod) && (vy == 0 || may_be_zero(y))) {
      const int64_t k = pick(2) ? 1 + pick(9) : -1 - pick(9);
      y = g_.n(k);
      vy = k;
    }
    return {g_.pool.apply(op, {x, y}),
            evaluate_op(op, SymKind::Int, {Number{vx, 0}, Number{vy, 0}}).i};
  }

 private:
  int64_t pick(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(rng_); }
  static bool may_be_zero(Expr e) { return e->is_const() && e->value == 0; }

  Algebra& g_;
  std::mt19937& rng_;
  std::vector<int64_t> values_;
};

TEST_CASE("a simplified expression has the value of the plain arithmetic, which is in its range",
          "[fake][symbolic][expr]") {
  std::mt19937 rng(20261121);
  for (int round = 0; round < 3000; ++round) {
    Algebra g;
    Facts facts(g.pool);
    SymbolValues values;
    std::vector<int64_t> plain;
    for (Expr s : {g.a, g.b, g.c}) {
      const int64_t low = std::uniform_int_distribution<int64_t>(-6, 6)(rng);
      const int64_t high = std::uniform_int_distribution<int64_t>(low, low + 8)(rng);
      plain.push_back(std::uniform_int_distribution<int64_t>(low, high)(rng));
      values[s] = {plain.back(), 0};
      if (low < high) facts.learn_range(s, {low, high});
    }
    RandomExpr random(g, rng, plain);
    const auto [x, vx] = random.make(4);
    const auto [y, vy] = random.make(3);
    INFO("round " << round << ": " << to_string(x) << " and " << to_string(y) << " for " << plain[0]
                  << ", " << plain[1] << ", " << plain[2]);
    REQUIRE(evaluate(x, values)->i == vx);
    REQUIRE(facts.range(x).contains(vx));
    for (SymOp op : {SymOp::Eq, SymOp::Ne, SymOp::Lt, SymOp::Le, SymOp::Gt, SymOp::Ge}) {
      const Expr condition = g.pool.apply(op, {x, y});
      const bool holds = evaluate_op(op, SymKind::Int, {Number{vx, 0}, Number{vy, 0}}).i != 0;
      REQUIRE((evaluate(condition, values)->i != 0) == holds);
      const Expr known = facts.simplify(condition);
      INFO(to_string(condition) << " is " << to_string(known));
      if (known->is_const()) REQUIRE((known->value != 0) == holds);
      REQUIRE((evaluate(g.pool.negate(condition), values)->i != 0) != holds);
    }
    // What is learnt that is true keeps everything else true.
    const Expr fact = g.pool.apply(vx <= vy ? SymOp::Le : SymOp::Gt, {x, y});
    facts.learn(fact);
    const auto [z, vz] = random.make(3);
    INFO("then " << to_string(fact) << ", asked " << to_string(z));
    REQUIRE(evaluate(facts.simplify(z), values)->i == vz);
    REQUIRE(facts.range(z).contains(vz));
    const Expr same = g.pool.apply(SymOp::Eq, {z, g.n(vz)});
    facts.learn(same);
    REQUIRE(evaluate(facts.simplify(x), values)->i == vx);
    REQUIRE(facts.range(facts.simplify(y)).contains(vy));
  }
}

TEST_CASE("ranges of quotients and remainders hold every result", "[fake][symbolic][range]") {
  const int64_t ends[] = {-7, -2, -1, 0, 1, 3, 6};
  for (int64_t a0 : ends)
    for (int64_t a1 : ends)
      for (int64_t b0 : ends)
        for (int64_t b1 : ends) {
          if (a0 > a1 || b0 > b1) continue;
          const ValueRange a = {a0, a1};
          const ValueRange b = {b0, b1};
          for (int64_t x = a0; x <= a1; ++x)
            for (int64_t y = b0; y <= b1; ++y) {
              REQUIRE((a * b).contains(x * y));
              if (y == 0) continue;
              const Number args[] = {{x, 0}, {y, 0}};
              REQUIRE(floor_div(a, b).contains(evaluate_op(SymOp::FloorDiv, SymKind::Int, args).i));
              REQUIRE(floor_mod(a, b).contains(evaluate_op(SymOp::Mod, SymKind::Int, args).i));
            }
        }
}

TEST_CASE("infinite ends stay infinite", "[fake][symbolic][range]") {
  const ValueRange size = {2, ValueRange::kInfinity};
  CHECK(to_string(size + ValueRange::of(-5)) == "[-3, inf]");
  CHECK(to_string(-size) == "[-inf, -2]");
  CHECK(to_string(size * size) == "[4, inf]");
  CHECK(to_string(floor_div(size, ValueRange::of(2))) == "[1, inf]");
  CHECK(to_string(floor_div(ValueRange::of(7), size)) == "[0, 3]");
  CHECK(to_string(floor_mod(size, ValueRange::of(8))) == "[0, 7]");
}

TEST_CASE("a chain of ten thousand operations is made, walked and printed at once",
          "[fake][symbolic][expr]") {
  Algebra g;
  Facts facts(g.pool);
  Expr nested = g.a;
  Expr doubled = g.a;
  Expr power = g.add(g.a, g.b);
  Expr sum = g.n(0);
  for (int i = 0; i < 10000; ++i) {
    nested = g.add(g.div(nested, g.add(g.b, g.n(i))), g.c);
    doubled = g.add(g.div(doubled, g.b), g.mod(doubled, g.c));
    if (i < 1000) power = g.mul(power, power);
    sum = g.add(sum, g.div(g.a, g.n(i + 2)));
  }
  for (Expr e : {nested, doubled, power, sum}) {
    CHECK(to_string(e).size() < 10000);
    CHECK(facts.simplify(e) != nullptr);
    CHECK(symbols_of(e).size() <= 3);
  }
  CHECK(evaluate(nested, {{g.a, {5, 0}}, {g.b, {1, 0}}, {g.c, {7, 0}}})->i == 7);
}

TEST_CASE("a coefficient that does not fit int64 is refused", "[fake][symbolic][expr]") {
  Algebra g;
  Expr e = g.a;
  CHECK_THROWS_WITH(
      [&] {
        for (int i = 0; i < 100; ++i) e = g.mul(e, g.n(3));
      }(),
      Catch::Contains("symbolic size overflow"));
  CHECK_THROWS_AS(g.div(g.a, g.n(INT64_MIN)), RuntimeError);
}

}  // namespace
}  // namespace sb::symbolic
