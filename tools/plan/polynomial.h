// Polynomials of symbols in a box, and whether one is never negative.

#ifndef SWITCHBOARD_TOOLS_PLAN_POLYNOMIAL_H_
#define SWITCHBOARD_TOOLS_PLAN_POLYNOMIAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/fake/symbolic/expr.h"
#include "switchboard/fake/symbolic/value_range.h"

namespace sb::plan {

// A sum of products. A factor is a symbol or an expression that does not distribute: a quotient, a
// remainder, a minimum, a maximum. Exact: what 128 bits do not hold is no polynomial.
class Polynomial {
 public:
  using Product = std::vector<symbolic::Expr>;  // sorted by age; the empty one is 1
  using Coefficient = __int128;
  using RangeOf = absl::FunctionRef<symbolic::ValueRange(symbolic::Expr symbol)>;

  // Nothing for an expression that is too large to be worth it.
  static std::optional<Polynomial> of(symbolic::Expr integer);

  // Whether it is at least 0 wherever its symbols are in their ranges, for sure. Symbols that may
  // be negative, and what it cannot take apart, give false.
  bool is_never_negative(RangeOf range_of) const;

 private:
  void add(Product product, Coefficient coefficient);
  void add(const Polynomial& other, const Product& times, Coefficient coefficient);
  // A factor that is no symbol; null if there is none.
  symbolic::Expr part() const;
  // The same with `by` in the place of a factor; nothing where it stands in a power.
  std::optional<Polynomial> with(symbolic::Expr factor, const Polynomial& by) const;
  // -1, 1: all coefficients of products with the factor have that sign; 0: they have not.
  int sign_of(symbolic::Expr factor) const;
  bool holds(RangeOf range_of, int& tries) const;
  bool holds_without_quotient(symbolic::Expr quotient, RangeOf range_of, int& tries) const;
  // Without the symbols that are in every product, where none of them may be negative.
  Polynomial without_common(RangeOf range_of) const;
  // The same polynomial of symbol - low, or of high - symbol.
  Polynomial counted_from(symbolic::Expr symbol, int64_t end, bool down) const;

  std::map<Product, Coefficient> terms_;
  bool overflown_ = false;
};

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_POLYNOMIAL_H_
