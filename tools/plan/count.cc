#include "switchboard/tools/plan/count.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"

namespace sb::plan {

SymInt Count::expression() const {
  if (is_symbolic()) return expression_;
  SB_CHECK(number_ <= static_cast<uint64_t>(INT64_MAX), "a count of ", number_,
           " does not fit an expression");
  return static_cast<int64_t>(number_);
}

uint64_t Count::at_hand() const {
  return is_symbolic() ? static_cast<uint64_t>(hint(expression_).value_or(0)) : number_;
}

std::string Count::to_string() const {
  return is_symbolic() ? expression_.to_string() : str_cat(number_);
}

Count operator+(const Count& a, const Count& b) {
  if (a.is_symbolic() || b.is_symbolic()) return a.expression() + b.expression();
  uint64_t sum;
  return __builtin_add_overflow(a.number_, b.number_, &sum) ? kSaturated : sum;
}

Count operator*(const Count& a, const Count& b) {
  if (a.is_symbolic() || b.is_symbolic()) return a.expression() * b.expression();
  uint64_t product;
  return __builtin_mul_overflow(a.number_, b.number_, &product) ? kSaturated : product;
}

Count min(const Count& a, const Count& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return std::min(a.number(), b.number());
  return sym_min(a.expression(), b.expression());
}

Count max(const Count& a, const Count& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return std::max(a.number(), b.number());
  return sym_max(a.expression(), b.expression());
}

bool operator==(const Count& a, const Count& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return a.number_ == b.number_;
  return known(a.expression() == b.expression());
}

}  // namespace sb::plan
