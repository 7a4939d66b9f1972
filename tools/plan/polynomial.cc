#include "switchboard/tools/plan/polynomial.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/symbols/sym_node.h"

namespace sb::plan {
namespace {

using symbolic::Expr;
using symbolic::ValueRange;

// What a proof may cost: products in a polynomial, and polynomials looked at.
constexpr size_t kMostTerms = 200;
constexpr int kMostTries = 200;
constexpr size_t kMostSymbols = 4;  // 2^4 corners to count from

bool is_older(Expr a, Expr b) { return a->index < b->index; }

}  // namespace

void Polynomial::add(Product product, Coefficient coefficient) {
  if (coefficient == 0) return;
  std::ranges::sort(product, is_older);
  Coefficient& sum = terms_[product];
  overflown_ |= __builtin_add_overflow(sum, coefficient, &sum);
  if (sum == 0) terms_.erase(product);
}

void Polynomial::add(const Polynomial& other, const Product& times, Coefficient coefficient) {
  overflown_ |= other.overflown_;
  for (const auto& [product, c] : other.terms_) {
    Product both = product;
    both.insert(both.end(), times.begin(), times.end());
    Coefficient scaled;
    overflown_ |= __builtin_mul_overflow(c, coefficient, &scaled);
    add(std::move(both), scaled);
  }
}

std::optional<Polynomial> Polynomial::of(Expr integer) {
  if (integer->is_sum() && integer->args.size() > kMostTerms) return std::nullopt;
  Polynomial result;
  const auto add_product = [&](Expr e, int64_t coefficient) {
    if (e->is_const())
      result.add({}, static_cast<Coefficient>(e->value) * coefficient);
    else if (e->is(SymOp::Mul))
      result.add(e->args, coefficient);
    else
      result.add({e}, coefficient);
  };
  if (!integer->is_sum()) {
    add_product(integer, 1);
    return result;
  }
  result.add({}, integer->value);
  for (size_t i = 0; i < integer->args.size(); ++i)
    add_product(integer->args[i], integer->coefficients[i]);
  return result;
}

Expr Polynomial::part() const {
  // The youngest may have the others in it.
  Expr youngest = nullptr;
  for (const auto& [product, coefficient] : terms_)
    for (const Expr factor : product)
      if (!factor->is_symbol() && (!youngest || is_older(youngest, factor))) youngest = factor;
  return youngest;
}

std::optional<Polynomial> Polynomial::with(Expr factor, const Polynomial& by) const {
  Polynomial result;
  for (const auto& [product, coefficient] : terms_) {
    Product rest = product;
    const auto removed = std::erase(rest, factor);
    if (removed > 1) return std::nullopt;
    if (removed == 0)
      result.add(std::move(rest), coefficient);
    else
      result.add(by, rest, coefficient);
  }
  return result;
}

int Polynomial::sign_of(Expr factor) const {
  int sign = 0;
  for (const auto& [product, coefficient] : terms_) {
    if (std::ranges::find(product, factor) == product.end()) continue;
    const int mine = coefficient < 0 ? -1 : 1;
    if (sign != 0 && sign != mine) return 0;
    sign = mine;
  }
  return sign;
}

Polynomial Polynomial::without_common(RangeOf range_of) const {
  if (terms_.empty()) return *this;
  Product common = terms_.begin()->first;
  for (const auto& [product, coefficient] : terms_) {
    Product shared;
    std::ranges::set_intersection(common, product, std::back_inserter(shared), is_older);
    common = std::move(shared);
  }
  std::erase_if(common, [&](Expr e) { return range_of(e).low < 0; });
  Polynomial rest;
  for (const auto& [product, coefficient] : terms_) {
    Product left;
    std::ranges::set_difference(product, common, std::back_inserter(left), is_older);
    rest.add(std::move(left), coefficient);
  }
  return rest;
}

Polynomial Polynomial::counted_from(Expr symbol, int64_t end, bool down) const {
  Polynomial result, by;
  by.add({}, end);
  by.add({symbol}, down ? -1 : 1);
  for (const auto& [product, coefficient] : terms_) {
    Product rest = product;
    const auto power = std::erase(rest, symbol);
    Polynomial expanded;
    expanded.add(std::move(rest), coefficient);
    for (size_t i = 0; i < power; ++i) {
      Polynomial next;
      for (const auto& [factors, c] : expanded.terms_) next.add(by, factors, c);
      next.overflown_ |= expanded.overflown_;
      expanded = std::move(next);
    }
    result.add(expanded, {}, 1);
  }
  return result;
}

// n // d for a number d lies in [(n - d + 1) / d, n / d].
bool Polynomial::holds_without_quotient(Expr quotient, RangeOf range_of, int& tries) const {
  const Expr divisor = quotient->args[1];
  const int sign = sign_of(quotient);
  if (!divisor->is_const() || divisor->value <= 0 || sign == 0) return false;
  std::optional<Polynomial> bound = of(quotient->args[0]);
  if (!bound) return false;
  if (sign > 0) bound->add({}, 1 - static_cast<Coefficient>(divisor->value));
  // The others are made `divisor` times as much, too.
  Polynomial scaled;
  for (const auto& [product, coefficient] : terms_) {
    const bool has = std::ranges::find(product, quotient) != product.end();
    Coefficient c = coefficient;
    if (!has) scaled.overflown_ |= __builtin_mul_overflow(c, divisor->value, &c);
    scaled.add(product, c);
  }
  const auto replaced = scaled.with(quotient, *bound);
  return replaced && replaced->holds(range_of, tries);
}

bool Polynomial::holds(RangeOf range_of, int& tries) const {
  if (overflown_ || terms_.size() > kMostTerms || --tries < 0) return false;
  if (std::ranges::all_of(terms_, [](const auto& term) { return term.second < 0; }) &&
      !terms_.empty())
    return false;
  if (const Expr part = this->part()) {
    if (part->is(SymOp::FloorDiv)) return holds_without_quotient(part, range_of, tries);
    const int sign = sign_of(part);
    if (sign == 0 || !(part->is(SymOp::Max) || part->is(SymOp::Min))) return false;
    // A maximum is at least any of its operands, and at most one of them.
    const bool any = part->is(SymOp::Max) == (sign > 0);
    for (const Expr operand : part->args) {
      const auto by = of(operand);
      const auto replaced = by ? with(part, *by) : std::nullopt;
      const bool one = replaced && replaced->holds(range_of, tries);
      if (one == any) return any;
    }
    return !any;
  }
  const Polynomial rest = without_common(range_of);
  std::vector<std::pair<Expr, ValueRange>> symbols;
  for (const auto& [product, coefficient] : rest.terms_)
    for (const Expr factor : product)
      if (std::ranges::find(symbols, factor, [](const auto& s) { return s.first; }) ==
          symbols.end())
        symbols.emplace_back(factor, range_of(factor));
  if (symbols.size() > kMostSymbols) return false;
  for (const auto& [symbol, range] : symbols)
    if (range.low < 0) return false;
  for (size_t corner = 0; corner < (size_t{1} << symbols.size()); ++corner) {
    Polynomial counted = rest;
    bool exists = true;
    for (size_t i = 0; i < symbols.size() && exists; ++i) {
      const auto& [symbol, range] = symbols[i];
      const bool down = ((corner >> i) & 1) != 0;
      exists = !down || range.high != ValueRange::kInfinity;
      if (exists) counted = counted.counted_from(symbol, down ? range.high : range.low, down);
    }
    if (exists && !counted.overflown_ &&
        std::ranges::all_of(counted.terms_, [](const auto& term) { return term.second >= 0; }))
      return true;
  }
  return false;
}

bool Polynomial::is_never_negative(RangeOf range_of) const {
  int tries = kMostTries;
  return holds(range_of, tries);
}

}  // namespace sb::plan
