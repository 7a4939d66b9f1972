#include "switchboard/core/symbols/sym_float.h"

#include <cmath>

namespace sb {

SymFloat::SymFloat(IntrusivePtr<const SymNode> node) : node_(std::move(node)) {
  SB_CHECK_VALUE(node_, "SymFloat: expected a symbolic expression, got null");
  SB_CHECK_VALUE(node_->kind() == SymKind::Float, "SymFloat: expected a float expression, got ",
                 sb::to_string(node_->kind()), " ", node_->to_string());
}

SymFloat::SymFloat(SymValue value)
    : SymFloat(value.is_symbolic() ? SymFloat(value.node_ptr()) : SymFloat(value.as_float())) {}

std::string SymFloat::to_string() const { return node_ ? node_->to_string() : str_cat(value_); }

namespace {

bool both_plain(const SymFloat& a, const SymFloat& b) {
  return !a.is_symbolic() && !b.is_symbolic();
}

template <class Compute>
SymInt to_int(SymOp op, const SymFloat& a, Compute plain) {
  if (a.is_symbolic()) return SymInt(sym_apply(op, {a.value()}));
  const double v = plain(a.expect_float());
  // Neither bound is a SymInt's, so that what passes can be converted.
  SB_CHECK(v >= -0x1p62 && v < 0x1p63, "SymFloat: ", to_string(op), " of ", a.expect_float(),
           " does not fit a SymInt");
  return static_cast<int64_t>(v);
}

}  // namespace

#define SB_SYM_FLOAT_BINARY(Result, function, name, expression)    \
  Result function(const SymFloat& a, const SymFloat& b) {          \
    if (both_plain(a, b)) {                                        \
      const double x = a.expect_float();                           \
      const double y = b.expect_float();                           \
      return expression;                                           \
    }                                                              \
    return Result(sym_apply(SymOp::name, {a.value(), b.value()})); \
  }
SB_SYM_FLOAT_BINARY(SymFloat, operator+, Add, x + y)
SB_SYM_FLOAT_BINARY(SymFloat, operator-, Sub, x - y)
SB_SYM_FLOAT_BINARY(SymFloat, operator*, Mul, x* y)
SB_SYM_FLOAT_BINARY(SymFloat, operator/, TrueDiv, x / y)
SB_SYM_FLOAT_BINARY(SymFloat, sym_min, Min, y < x ? y : x)
SB_SYM_FLOAT_BINARY(SymFloat, sym_max, Max, x < y ? y : x)
SB_SYM_FLOAT_BINARY(SymFloat, sym_pow, Pow, std::pow(x, y))
SB_SYM_FLOAT_BINARY(SymBool, operator==, Eq, x == y)
SB_SYM_FLOAT_BINARY(SymBool, operator!=, Ne, x != y)
SB_SYM_FLOAT_BINARY(SymBool, operator<, Lt, x < y)
SB_SYM_FLOAT_BINARY(SymBool, operator<=, Le, x <= y)
SB_SYM_FLOAT_BINARY(SymBool, operator>, Gt, x > y)
SB_SYM_FLOAT_BINARY(SymBool, operator>=, Ge, x >= y)
#undef SB_SYM_FLOAT_BINARY

SymFloat operator-(const SymFloat& a) {
  if (!a.is_symbolic()) return -a.expect_float();
  return SymFloat(sym_apply(SymOp::Neg, {a.value()}));
}
SymFloat sym_sqrt(const SymFloat& a) {
  if (!a.is_symbolic()) return std::sqrt(a.expect_float());
  return SymFloat(sym_apply(SymOp::Sqrt, {a.value()}));
}
SymInt sym_floor(const SymFloat& a) {
  return to_int(SymOp::Floor, a, [](double v) { return std::floor(v); });
}
SymInt sym_ceil(const SymFloat& a) {
  return to_int(SymOp::Ceil, a, [](double v) { return std::ceil(v); });
}
SymInt sym_trunc(const SymFloat& a) {
  return to_int(SymOp::Trunc, a, [](double v) { return std::trunc(v); });
}

SymFloat sym_float(const SymInt& a) {
  if (!a.is_symbolic()) return static_cast<double>(a.expect_int());
  return SymFloat(sym_apply(SymOp::ToFloat, {a.value()}));
}
SymFloat sym_true_div(const SymInt& a, const SymInt& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) {
    SB_CHECK(b.expect_int() != 0, "SymInt: ", a.expect_int(),
             " / 0: expected a divisor that is not zero");
    return static_cast<double>(a.expect_int()) / static_cast<double>(b.expect_int());
  }
  return SymFloat(sym_apply(SymOp::TrueDiv, {a.value(), b.value()}));
}

std::optional<double> hint(const SymFloat& a) {
  if (!a.is_symbolic()) return a.expect_float();
  const std::optional<SymValue> v = a.node()->hint();
  return v ? std::optional(v->as_float()) : std::nullopt;
}

}  // namespace sb
