// Floor division and remainders of expressions.

#include <algorithm>

#include "switchboard/fake/symbolic/expr_linear.h"

namespace sb::symbolic {

Expr ExprPool::divide_monomials(Expr a, Expr b) {
  std::vector<Expr> rest = a->is(SymOp::Mul) ? a->args : std::vector<Expr>{a};
  const std::vector<Expr> factors = b->is(SymOp::Mul) ? b->args : std::vector<Expr>{b};
  for (Expr factor : factors) {
    const auto it = std::find(rest.begin(), rest.end(), factor);
    if (it == rest.end()) return nullptr;
    rest.erase(it);
  }
  if (rest.empty()) return constant(1);
  return rest.size() == 1 ? rest[0] : intern_apply(SymKind::Int, SymOp::Mul, std::move(rest));
}

// Moves the terms that `b`, one term, divides from `rest` to `quotient`.
void ExprPool::take_multiples(Linear& rest, Linear& quotient, const Linear& b) {
  const auto& [monomial, coefficient] = b.terms[0];
  std::vector<Linear::Term> kept;
  for (const auto& [m, c] : rest.terms) {
    const Expr q =
        coefficient == -1 || c % coefficient == 0 ? divide_monomials(m, monomial) : nullptr;
    if (q)
      accumulate(quotient, linear(q), floor_quotient(c, coefficient));
    else
      kept.emplace_back(m, c);
  }
  rest.terms = std::move(kept);
}

Expr ExprPool::exact_quotient(const Linear& a, const Linear& b) {
  // Long division by the term of `b` that comes first in the order by degree, then by factors.
  const auto degree = [](Expr m) { return m->is(SymOp::Mul) ? m->args.size() : 1; };
  const auto before = [&](const Linear::Term& x, const Linear::Term& y) {
    if (degree(x.first) != degree(y.first)) return degree(x.first) > degree(y.first);
    const auto index = [](Expr e) { return e->index; };
    if (!x.first->is(SymOp::Mul)) return index(x.first) < index(y.first);
    return std::lexicographical_compare(x.first->args.begin(), x.first->args.end(),
                                        y.first->args.begin(), y.first->args.end(),
                                        [](Expr p, Expr q) { return p->index < q->index; });
  };
  if (a.terms.size() > kMaxExpansion || b.terms.size() > kMaxExpansion) return nullptr;
  const Linear::Term lead = *std::min_element(b.terms.begin(), b.terms.end(), before);
  Linear rest = a;
  Linear quotient;
  for (size_t step = 0; step < kMaxExpansion && !rest.is_constant(); ++step) {
    const Linear::Term next = *std::min_element(rest.terms.begin(), rest.terms.end(), before);
    if (lead.second != -1 && next.second % lead.second != 0) return nullptr;
    const Expr q = divide_monomials(next.first, lead.first);
    if (!q) return nullptr;
    const int64_t factor = floor_quotient(next.second, lead.second);
    const Expr product = multiply(q, from_linear(b));
    if (linear(product).terms.size() > kMaxExpansion) return nullptr;
    accumulate(rest, linear(product), coefficient_neg(factor));
    accumulate(quotient, linear(q), factor);
  }
  return rest.is_constant() && rest.constant == 0 ? from_linear(std::move(quotient)) : nullptr;
}

Expr ExprPool::floor_div(Expr a, Expr b) {
  Linear rest = linear(a);
  Linear by = linear(b);
  Linear quotient;
  if (by.is_constant()) {
    const int64_t k = by.constant;
    SB_CHECK(k != 0, "symbolic //: ", to_string(a), " // 0: expected a divisor that is not zero");
    if (k == INT64_MIN) throw_coefficient_overflow();
    // a = k*q + r, so a // k = q + r // k; the coefficients of r lie between 0 and k.
    Linear r;
    r.constant = floor_remainder(rest.constant, k);
    quotient.constant = floor_quotient(rest.constant, k);
    for (const auto& [m, c] : rest.terms) {
      if (const int64_t q = floor_quotient(c, k)) quotient.terms.emplace_back(m, q);
      if (const int64_t left = floor_remainder(c, k)) r.terms.emplace_back(m, left);
    }
    if (r.is_constant()) return from_linear(std::move(quotient));  // 0 <= r/k < 1
    // A factor that all have goes; of the constant, what does not reach it never counts.
    uint64_t g = magnitude(k);
    for (const auto& [m, c] : r.terms) g = std::gcd(g, magnitude(c));
    const int64_t factor = k < 0 ? -static_cast<int64_t>(g) : static_cast<int64_t>(g);
    for (auto& [m, c] : r.terms) c = floor_quotient(c, factor);
    r.constant = floor_quotient(r.constant, factor);
    by.constant = floor_quotient(k, factor);  // at least 1 now
    // (x // m + c) // n = (x + c*m) // (m*n)
    if (r.terms.size() == 1 && r.terms[0].second == 1 && by.constant > 1) {
      const Expr inner = r.terms[0].first;
      int64_t both, shift;
      if (inner->is(SymOp::FloorDiv) && inner->args[1]->is_const() &&
          !__builtin_mul_overflow(inner->args[1]->value, by.constant, &both) &&
          !__builtin_mul_overflow(inner->args[1]->value, r.constant, &shift)) {
        accumulate(quotient,
                   linear(floor_div(add(inner->args[0], constant(shift)), constant(both))), 1);
        return from_linear(std::move(quotient));
      }
    }
    if (by.constant == 1) {
      accumulate(quotient, r, 1);
    } else {
      const Expr atom = intern_apply(SymKind::Int, SymOp::FloorDiv,
                                     {from_linear(std::move(r)), constant(by.constant)});
      accumulate(quotient, Linear{0, {{atom, 1}}}, 1);
    }
    return from_linear(std::move(quotient));
  }
  if (a->is_const() && a->value == 0) return a;
  if (by.constant == 0 && by.terms.size() == 1) {
    take_multiples(rest, quotient, by);
  } else if (const Expr exact = exact_quotient(rest, by)) {
    return exact;
  }
  if (rest.is_constant() && rest.constant == 0) return from_linear(std::move(quotient));
  // A number that divides both sides goes.
  uint64_t g = std::gcd(magnitude(rest.constant), magnitude(by.constant));
  for (const auto& [m, c] : rest.terms) g = std::gcd(g, magnitude(c));
  for (const auto& [m, c] : by.terms) g = std::gcd(g, magnitude(c));
  if (g > 1 && g <= static_cast<uint64_t>(INT64_MAX)) {
    const int64_t factor = static_cast<int64_t>(g);
    for (Linear* side : {&rest, &by}) {
      side->constant /= factor;
      for (auto& [m, c] : side->terms) c /= factor;
    }
  }
  const Expr atom = intern_apply(SymKind::Int, SymOp::FloorDiv,
                                 {from_linear(std::move(rest)), from_linear(std::move(by))});
  accumulate(quotient, Linear{0, {{atom, 1}}}, 1);
  return from_linear(std::move(quotient));
}

Expr ExprPool::mod(Expr a, Expr b) {
  Linear rest = linear(a);
  const Linear by = linear(b);
  if (by.is_constant()) {
    const int64_t k = by.constant;
    SB_CHECK(k != 0, "symbolic %: ", to_string(a), " % 0: expected a divisor that is not zero");
    if (k == INT64_MIN) throw_coefficient_overflow();
    Linear r;
    r.constant = floor_remainder(rest.constant, k);
    for (const auto& [m, c] : rest.terms) {
      if (const int64_t left = floor_remainder(c, k)) r.terms.emplace_back(m, left);
    }
    if (r.is_constant()) return constant(r.constant);
    // (x % m) % k = x % k where k divides m.
    if (r.terms.size() == 1 && r.terms[0].second == 1) {
      const Expr inner = r.terms[0].first;
      if (inner->is(SymOp::Mod) && inner->args[1]->is_const() && inner->args[1]->value % k == 0)
        return mod(add(inner->args[0], constant(r.constant)), b);
    }
    // (g*x) % (g*y) = g * (x % y)
    uint64_t g = std::gcd(magnitude(k), magnitude(r.constant));
    for (const auto& [m, c] : r.terms) g = std::gcd(g, magnitude(c));
    const int64_t factor = k < 0 ? -static_cast<int64_t>(g) : static_cast<int64_t>(g);
    for (auto& [m, c] : r.terms) c = floor_quotient(c, factor);
    r.constant = floor_quotient(r.constant, factor);
    const int64_t divisor = floor_quotient(k, factor);
    if (divisor == 1) return constant(0);
    const Expr atom =
        intern_apply(SymKind::Int, SymOp::Mod, {from_linear(std::move(r)), constant(divisor)});
    return multiply(atom, constant(factor));
  }
  if (a->is_const() && a->value == 0) return a;
  if (by.constant == 0 && by.terms.size() == 1) {
    Linear quotient;
    take_multiples(rest, quotient, by);
  } else if (exact_quotient(rest, by)) {
    return constant(0);
  }
  if (rest.is_constant() && rest.constant == 0) return constant(0);
  return intern_apply(SymKind::Int, SymOp::Mod, {from_linear(std::move(rest)), b});
}

}  // namespace sb::symbolic
