#include "switchboard/core/symbols/sym_int.h"

#include <vector>

#include "switchboard/core/checked_math.h"

namespace sb {

namespace {

template <class Compute>
SymInt sym_or_plain(SymOp op, const SymInt& a, const SymInt& b, Compute plain) {
  if (!a.is_symbolic() && !b.is_symbolic()) return SymInt(plain(a.expect_int(), b.expect_int()));
  return SymInt(sym_apply(op, {a.value(), b.value()}));
}

int64_t checked_divisor(std::string_view op, int64_t a, int64_t b) {
  SB_CHECK(b != 0, "SymInt: ", a, " ", op, " 0: expected a divisor that is not zero");
  return b;
}

// Plain values lie in [-2^62, 2^63), so that neither of these overflows.
int64_t floor_div(int64_t a, int64_t b) {
  checked_divisor("//", a, b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
int64_t floor_mod(int64_t a, int64_t b) {
  checked_divisor("%", a, b);
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

template <class Combine>
SymInt fold(SymOp op, absl::Span<const SymInt> values, int64_t identity, Combine combine) {
  std::vector<SymValue> symbolic;
  SymInt plain = identity;
  for (const SymInt& v : values) {
    if (v.is_symbolic()) {
      symbolic.push_back(v.value());
    } else {
      plain = combine(plain, v);
    }
  }
  if (symbolic.empty()) return plain;
  symbolic.push_back(plain.value());
  return SymInt(sym_apply(op, symbolic));
}

}  // namespace

SymInt SymInt::slow(SymOp op, const SymInt& a, const SymInt& b) {
  return sym_or_plain(op, a, b, [op](int64_t x, int64_t y) -> int64_t {
    int64_t r = 0;
    const bool overflow = op == SymOp::Add   ? __builtin_add_overflow(x, y, &r)
                          : op == SymOp::Sub ? __builtin_sub_overflow(x, y, &r)
                                             : __builtin_mul_overflow(x, y, &r);
    SB_CHECK(!overflow && !is_tagged(r), "size overflow: ", x, " ", sb::to_string(op), " ", y,
             " does not fit a SymInt");
    return r;
  });
}

SymInt SymInt::divide(const SymInt& a, const SymInt& b) {
  return sym_or_plain(SymOp::FloorDiv, a, b,
                      [](int64_t x, int64_t y) { return x / checked_divisor("/", x, y); });
}

SymInt SymInt::remainder(const SymInt& a, const SymInt& b) {
  return sym_or_plain(SymOp::Mod, a, b,
                      [](int64_t x, int64_t y) { return x % checked_divisor("%", x, y); });
}

SymBool SymInt::compare(SymOp op, const SymInt& a, const SymInt& b) {
  return SymBool(sym_apply(op, {a.value(), b.value()}));
}

std::optional<int64_t> SymInt::known_int() const {
  const std::optional<SymValue> known = node()->plain();
  return known ? std::optional(known->as_int()) : std::nullopt;
}

SymInt sym_floor_div(const SymInt& a, const SymInt& b) {
  return sym_or_plain(SymOp::FloorDiv, a, b, floor_div);
}
SymInt sym_mod(const SymInt& a, const SymInt& b) {
  return sym_or_plain(SymOp::Mod, a, b, floor_mod);
}
SymInt sym_min(const SymInt& a, const SymInt& b) {
  return sym_or_plain(SymOp::Min, a, b, [](int64_t x, int64_t y) { return x < y ? x : y; });
}
SymInt sym_max(const SymInt& a, const SymInt& b) {
  return sym_or_plain(SymOp::Max, a, b, [](int64_t x, int64_t y) { return x < y ? y : x; });
}
SymInt sym_int(const SymBool& a) {
  if (!a.is_symbolic()) return SymInt(a.expect_bool() ? 1 : 0);
  return SymInt(sym_apply(SymOp::ToInt, {a.value()}));
}

SymInt sym_sum(absl::Span<const SymInt> values) {
  return fold(SymOp::Add, values, 0, [](const SymInt& a, const SymInt& b) { return a + b; });
}
SymInt sym_product(absl::Span<const SymInt> values) {
  return fold(SymOp::Mul, values, 1, [](const SymInt& a, const SymInt& b) { return a * b; });
}
int64_t sym_sum(absl::Span<const int64_t> values) {
  int64_t sum = 0;
  for (int64_t v : values) sum = checked_add(sum, v);
  return sum;
}
int64_t sym_product(absl::Span<const int64_t> values) {
  int64_t product = 1;
  for (int64_t v : values) product = checked_mul(product, v);
  return product;
}

std::optional<int64_t> hint(const SymInt& a) {
  if (!a.is_symbolic()) return a.expect_int();
  const std::optional<SymValue> v = a.node()->hint();
  return v ? std::optional(v->as_int()) : std::nullopt;
}

}  // namespace sb
