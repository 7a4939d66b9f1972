// A sum of integers, taken apart. Only the files that make ExprPool include this.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_EXPR_LINEAR_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_EXPR_LINEAR_H_

#include <numeric>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/fake/symbolic/expr.h"

namespace sb::symbolic {

struct ExprPool::Linear {
  using Term = std::pair<Expr, int64_t>;

  int64_t constant = 0;
  std::vector<Term> terms;  // sorted by the monomials' index; no coefficient is 0

  bool is_constant() const { return terms.empty(); }
  // One monomial and nothing else.
  bool is_monomial() const { return constant == 0 && terms.size() == 1 && terms[0].second == 1; }
};

[[noreturn, gnu::cold]] inline void throw_coefficient_overflow() {
  SB_THROW(RuntimeError, "symbolic size overflow: a coefficient does not fit int64");
}
inline int64_t coefficient_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw_coefficient_overflow();
  return r;
}
inline int64_t coefficient_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw_coefficient_overflow();
  return r;
}
inline int64_t coefficient_neg(int64_t a) { return coefficient_mul(a, -1); }
inline uint64_t magnitude(int64_t a) {
  return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}

// Rounded to minus infinity; b is not 0.
inline int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == -1) return coefficient_neg(a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace sb::symbolic

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_EXPR_LINEAR_H_
