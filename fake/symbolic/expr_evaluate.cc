// The value of an expression for given symbols.

#include <algorithm>
#include <cmath>

#include "switchboard/core/checked_math.h"
#include "switchboard/fake/symbolic/expr_linear.h"

namespace sb::symbolic {

namespace {

Number truth(bool b) { return {b, 0}; }

template <class T>
bool compare_numbers(SymOp op, T a, T b) {
  switch (op) {
    case SymOp::Eq:
      return a == b;
    case SymOp::Ne:
      return a != b;
    case SymOp::Lt:
      return a < b;
    case SymOp::Le:
      return a <= b;
    case SymOp::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

Number rounded(SymOp op, double d) {
  const double v = op == SymOp::Floor  ? std::floor(d)
                   : op == SymOp::Ceil ? std::ceil(d)
                                       : std::trunc(d);
  SB_CHECK(v >= -0x1p63 && v < 0x1p63, "symbolic ", sb::to_string(op), ": ", d,
           " does not fit int64");
  return {static_cast<int64_t>(v), 0};
}

Number float_op(SymOp op, absl::Span<const Number> args) {
  const double a = args[0].d;
  const double b = args.size() > 1 ? args[1].d : 0;
  const auto fold = [&](auto combine) {
    double r = a;
    for (const Number& n : args.subspan(1)) r = combine(r, n.d);
    return Number{0, r};
  };
  switch (op) {
    case SymOp::Add:
      return fold([](double x, double y) { return x + y; });
    case SymOp::Mul:
      return fold([](double x, double y) { return x * y; });
    case SymOp::Min:
      return fold([](double x, double y) { return y < x ? y : x; });
    case SymOp::Max:
      return fold([](double x, double y) { return x < y ? y : x; });
    case SymOp::Sub:
      return {0, a - b};
    case SymOp::Neg:
      return {0, -a};
    case SymOp::TrueDiv:
      return {0, a / b};
    case SymOp::Pow:
      return {0, std::pow(a, b)};
    case SymOp::Sqrt:
      return {0, std::sqrt(a)};
    case SymOp::Floor:
    case SymOp::Ceil:
    case SymOp::Trunc:
      return rounded(op, a);
    default:
      return truth(compare_numbers(op, a, b));
  }
}

Number int_op(SymOp op, absl::Span<const Number> args) {
  const int64_t a = args[0].i;
  const int64_t b = args.size() > 1 ? args[1].i : 0;
  const auto fold = [&](auto combine) {
    int64_t r = a;
    for (const Number& n : args.subspan(1)) r = combine(r, n.i);
    return Number{r, 0};
  };
  switch (op) {
    case SymOp::Add:
      return fold(checked_add);
    case SymOp::Mul:
      return fold(checked_mul);
    case SymOp::Min:
      return fold([](int64_t x, int64_t y) { return std::min(x, y); });
    case SymOp::Max:
      return fold([](int64_t x, int64_t y) { return std::max(x, y); });
    case SymOp::Sub:
      return {checked_add(a, checked_mul(b, -1)), 0};
    case SymOp::Neg:
      return {checked_mul(a, -1), 0};
    case SymOp::FloorDiv:
      SB_CHECK(b != 0, "symbolic //: ", a, " // 0: expected a divisor that is not zero");
      return {floor_quotient(a, b), 0};
    case SymOp::Mod:
      SB_CHECK(b != 0, "symbolic %: ", a, " % 0: expected a divisor that is not zero");
      return {floor_remainder(a, b), 0};
    case SymOp::ToFloat:
      return {0, static_cast<double>(a)};
    case SymOp::TrueDiv:
      return {0, static_cast<double>(a) / static_cast<double>(b)};
    default:
      return truth(compare_numbers(op, a, b));  // with 0 where it is the only operand
  }
}

Number bool_op(SymOp op, absl::Span<const Number> args) {
  const auto is_true = [](const Number& n) { return n.i != 0; };
  switch (op) {
    case SymOp::And:
      return truth(std::all_of(args.begin(), args.end(), is_true));
    case SymOp::Or:
      return truth(std::any_of(args.begin(), args.end(), is_true));
    case SymOp::Not:
      return truth(args[0].i == 0);
    case SymOp::ToInt:
      return {args[0].i, 0};
    default:
      return truth(compare_numbers(op, args[0].i, args[1].i));
  }
}

// A sum is computed in 128 bits: its terms may be larger than what they add up to.
Number evaluate_sum(Expr e, absl::Span<const Number> args) {
  __int128 sum = e->value;
  for (size_t i = 0; i < args.size(); ++i)
    sum += static_cast<__int128>(e->coefficients[i]) * args[i].i;
  SB_CHECK(sum >= INT64_MIN && sum <= INT64_MAX, "size overflow: ", to_string(e),
           " does not fit int64");
  return {static_cast<int64_t>(sum), 0};
}

}  // namespace

Number evaluate_op(SymOp op, SymKind kind, absl::Span<const Number> args) {
  switch (kind) {
    case SymKind::Float:
      return float_op(op, args);
    case SymKind::Bool:
      return bool_op(op, args);
    case SymKind::Int:
      return int_op(op, args);
  }
  SB_ASSERT(false);
}

std::optional<Number> evaluate(Expr root, const SymbolValues& values) {
  absl::flat_hash_map<Expr, Number> known;
  bool missing = false;
  std::vector<Number> args;
  visit_post_order(
      root, [&](Expr e) { return missing || known.contains(e); },
      [&](Expr e) {
        if (e->is_const()) {
          known[e] = {e->value, e->float_value};
        } else if (e->is_symbol()) {
          const auto it = values.find(e);
          if (it == values.end())
            missing = true;
          else
            known[e] = it->second;
        } else {
          args.clear();
          for (Expr arg : e->args) args.push_back(known.at(arg));
          known[e] =
              e->is_sum() ? evaluate_sum(e, args) : evaluate_op(e->op, e->args[0]->kind, args);
        }
      });
  if (missing) return std::nullopt;
  return known.at(root);
}

}  // namespace sb::symbolic
