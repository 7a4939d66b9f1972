// Which of two numbers of symbols is never less than the other?

#ifndef SWITCHBOARD_TOOLS_PLAN_EXPRESSION_ORDER_H_
#define SWITCHBOARD_TOOLS_PLAN_EXPRESSION_ORDER_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/fake/symbolic/expr.h"
#include "switchboard/fake/symbolic/value_range.h"

namespace sb::plan {

// What plans ask of sizes, answered for all values that symbols may have, and recording no guard.
// What it cannot prove it does not claim: a maximum then keeps both. Proofs are of polynomials, in
// which each symbol is counted from one end of its range: one without a negative coefficient is
// never negative. Quotients and maxima in them are replaced by what bounds them.
class ExpressionOrder {
 public:
  // Whether a >= b, for sure.
  bool at_least(const SymInt& a, const SymInt& b);
  // Max(a, b), and a + b, without what is never the answer. A sum with a maximum becomes the
  // maximum of sums.
  SymInt larger(const SymInt& a, const SymInt& b);
  SymInt sum(const SymInt& a, const SymInt& b);
  // The indices of values that may be the largest, in order; of equal ones the first.
  std::vector<size_t> candidates(absl::Span<const SymInt> values);
  SymInt largest(absl::Span<const SymInt> values);

 private:
  symbolic::ValueRange range_of(const SymInt& of, symbolic::Expr symbol);

  absl::flat_hash_map<symbolic::Expr, symbolic::ValueRange> ranges_;
};

// Whether a larger number for any symbol never makes the expression less, as far as its form tells.
// Symbols are taken to be at least 0.
bool never_decreases(const SymInt& expression);

// An ExpressionOrder of numbers. Sums throw RuntimeError where int64 does not hold them.
struct NumberOrder {
  bool at_least(int64_t a, int64_t b) const { return a >= b; }
  int64_t larger(int64_t a, int64_t b) const { return std::max(a, b); }
  int64_t sum(int64_t a, int64_t b) const { return checked_add(a, b); }
  int64_t largest(absl::Span<const int64_t> values) const {
    return values.empty() ? 0 : *std::ranges::max_element(values);
  }
};

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_EXPRESSION_ORDER_H_
