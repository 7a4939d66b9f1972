#include "switchboard/fake/symbolic/value_range.h"

#include <algorithm>
#include <initializer_list>

#include "switchboard/core/str_cat.h"

namespace sb::symbolic {

namespace {

constexpr int64_t kMinus = ValueRange::kMinusInfinity;
constexpr int64_t kPlus = ValueRange::kInfinity;

bool infinite(int64_t v) { return v == kMinus || v == kPlus; }
int64_t clamp(__int128 v) {
  return v <= kMinus ? kMinus : v >= kPlus ? kPlus : static_cast<int64_t>(v);
}
// Only ends of one direction are ever added: no infinity meets its opposite.
int64_t add_ends(int64_t a, int64_t b) {
  if (infinite(a)) return a;
  if (infinite(b)) return b;
  return clamp(static_cast<__int128>(a) + b);
}
int64_t negate_end(int64_t v) { return v == kMinus ? kPlus : v == kPlus ? kMinus : -v; }
// 0 times infinity is 0: no member is infinite, an end is only as large as one likes.
int64_t mul_ends(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kPlus : kMinus;
  return clamp(static_cast<__int128>(a) * b);
}
// `b` is not 0.
int64_t div_ends(int64_t a, int64_t b) {
  if (infinite(a)) return (a < 0) == (b < 0) ? kPlus : kMinus;
  if (infinite(b)) return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
  const __int128 x = a;
  return clamp(x / b - (x % b != 0 && (a < 0) != (b < 0)));
}

ValueRange hull(std::initializer_list<int64_t> ends) {
  const auto [low, high] = std::minmax(ends);
  return {low, high};
}

// For divisors of one sign.
ValueRange divide(ValueRange a, ValueRange b) {
  if (b.empty()) return {kPlus, kMinus};
  return hull({div_ends(a.low, b.low), div_ends(a.low, b.high), div_ends(a.high, b.low),
               div_ends(a.high, b.high)});
}

}  // namespace

ValueRange intersect(ValueRange a, ValueRange b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
ValueRange operator+(ValueRange a, ValueRange b) {
  return {add_ends(a.low, b.low), add_ends(a.high, b.high)};
}
ValueRange operator-(ValueRange a) { return {negate_end(a.high), negate_end(a.low)}; }
ValueRange operator*(ValueRange a, ValueRange b) {
  return hull({mul_ends(a.low, b.low), mul_ends(a.low, b.high), mul_ends(a.high, b.low),
               mul_ends(a.high, b.high)});
}
ValueRange range_min(ValueRange a, ValueRange b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
ValueRange range_max(ValueRange a, ValueRange b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

ValueRange floor_div(ValueRange a, ValueRange b) {
  const ValueRange positive = divide(a, intersect(b, {1, kPlus}));
  const ValueRange negative = divide(a, intersect(b, {kMinus, -1}));
  if (positive.empty() && negative.empty()) return {};  // divided by 0 only
  if (negative.empty()) return positive;
  if (positive.empty()) return negative;
  return {std::min(positive.low, negative.low), std::max(positive.high, negative.high)};
}

ValueRange floor_mod(ValueRange a, ValueRange b) {
  if (a.low >= 0 && b.low > a.high) return a;
  // The remainder lies between 0 and the divisor, and has its sign.
  ValueRange result = {b.low < 0 ? add_ends(b.low, 1) : 0, b.high > 0 ? add_ends(b.high, -1) : 0};
  if (a.low >= 0 && b.low >= 0) result.high = std::min(result.high, a.high);
  return result;
}

std::string to_string(ValueRange range) {
  const auto end = [](int64_t v) {
    return v == kMinus ? std::string("-inf") : v == kPlus ? std::string("inf") : str_cat(v);
  };
  return str_cat("[", end(range.low), ", ", end(range.high), "]");
}

}  // namespace sb::symbolic
