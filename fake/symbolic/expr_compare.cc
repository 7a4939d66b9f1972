// Comparisons and connectives of expressions.

#include <algorithm>

#include "switchboard/fake/symbolic/expr_linear.h"

namespace sb::symbolic {

Expr ExprPool::compare(SymOp op, Expr a, Expr b) {
  switch (op) {
    case SymOp::Gt:
      return compare(SymOp::Lt, b, a);
    case SymOp::Ge:
      return compare(SymOp::Le, b, a);
    case SymOp::Lt:
      return compare_with_zero(SymOp::Le, add_all({a, multiply(b, constant(-1)), constant(1)}));
    default:
      return compare_with_zero(op, sub(a, b));
  }
}

// k*(x // k) is x - x % k: taken where it makes the sum shorter, as in 4*(s0 // 4) == s0.
void ExprPool::remainders_from_quotients(Linear& sum) {
  if (sum.terms.size() > kMaxExpansion) return;
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const auto [atom, coefficient] = sum.terms[i];
    if (!atom->is(SymOp::FloorDiv) || !atom->args[1]->is_const()) continue;
    const int64_t k = atom->args[1]->value;  // at least 2
    if (coefficient % k != 0) continue;
    Linear other = sum;
    accumulate(other, Linear{0, {{atom, 1}}}, coefficient_neg(coefficient));
    accumulate(other, linear(atom->args[0]), coefficient / k);
    accumulate(other, linear(mod(atom->args[0], atom->args[1])), coefficient_neg(coefficient / k));
    if (other.terms.size() < sum.terms.size()) {
      sum = std::move(other);
      return;
    }
  }
}

Expr ExprPool::compare_with_zero(SymOp op, Expr a) {
  Linear sum = linear(a);
  remainders_from_quotients(sum);
  if (sum.is_constant()) {
    const int64_t c = sum.constant;
    return constant_bool(op == SymOp::Eq ? c == 0 : op == SymOp::Ne ? c != 0 : c <= 0);
  }
  uint64_t g = 0;
  for (const auto& [m, c] : sum.terms) g = std::gcd(g, magnitude(c));
  if (g > static_cast<uint64_t>(INT64_MAX)) throw_coefficient_overflow();
  int64_t factor = static_cast<int64_t>(g);
  if (op == SymOp::Le) {
    // g*x + c <= 0 where x <= floor(-c/g).
    sum.constant = coefficient_neg(floor_quotient(coefficient_neg(sum.constant), factor));
  } else {
    if (sum.constant % factor != 0) return constant_bool(op == SymOp::Ne);
    if (sum.terms[0].second < 0) factor = -factor;
    sum.constant = floor_quotient(sum.constant, factor);
  }
  for (auto& [m, c] : sum.terms) c = floor_quotient(c, factor);
  return intern_apply(SymKind::Bool, op, {from_linear(std::move(sum))});
}

Expr ExprPool::negate(Expr condition) {
  SB_CHECK_TYPE(condition->kind == SymKind::Bool, "symbolic !: expected SymBool, got ",
                sb::to_string(condition->kind), " ", to_string(condition));
  if (condition->is_const()) return constant_bool(condition->value == 0);
  if (condition->is(SymOp::Not)) return condition->args[0];
  if (condition->form == ExprForm::Apply && condition->args.size() == 1) {
    const Expr sum = condition->args[0];
    if (condition->op == SymOp::Eq) return compare_with_zero(SymOp::Ne, sum);
    if (condition->op == SymOp::Ne) return compare_with_zero(SymOp::Eq, sum);
    if (condition->op == SymOp::Le)
      return compare_with_zero(SymOp::Le, add_all({multiply(sum, constant(-1)), constant(1)}));
  }
  return intern_apply(SymKind::Bool, SymOp::Not, {condition});
}

Expr ExprPool::connective(SymOp op, absl::Span<const Expr> args) {
  const int64_t decisive = op == SymOp::Or;  // the truth of one that decides all
  std::vector<Expr> flat;
  for (Expr arg : args) {
    if (arg->is_const()) {
      if (arg->value == decisive) return arg;
    } else if (arg->is(op) && flat.size() + arg->args.size() <= kMaxExpansion) {
      flat.insert(flat.end(), arg->args.begin(), arg->args.end());
    } else {
      flat.push_back(arg);
    }
  }
  if (flat.empty()) return constant_bool(!decisive);
  const auto by_age = [](Expr a, Expr b) { return a->index < b->index; };
  std::sort(flat.begin(), flat.end(), by_age);
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.size() <= kMaxExpansion) {
    for (Expr e : flat) {
      if (std::binary_search(flat.begin(), flat.end(), negate(e), by_age))
        return constant_bool(decisive);
    }
  }
  return flat.size() == 1 ? flat[0] : intern_apply(SymKind::Bool, op, std::move(flat));
}

}  // namespace sb::symbolic
