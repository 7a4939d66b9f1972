// A float that may be a symbol: what SymInt / SymInt gives, and what item() gives in fake mode.

#ifndef SWITCHBOARD_CORE_SYMBOLS_SYM_FLOAT_H_
#define SWITCHBOARD_CORE_SYMBOLS_SYM_FLOAT_H_

#include <optional>
#include <string>
#include <utility>

#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/symbols/sym_node.h"

namespace sb {

// As `torch.SymFloat`.
class SymFloat {
 public:
  SymFloat() = default;
  SymFloat(double value) : value_(value) {}  // NOLINT: floats are symbolic floats
  // Throws ValueError for a null node or one of another kind.
  explicit SymFloat(IntrusivePtr<const SymNode> node);
  explicit SymFloat(SymValue value);

  bool is_symbolic() const { return static_cast<bool>(node_); }
  // Null for a plain one.
  const SymNode* node() const { return node_.get(); }
  SymValue value() const { return node_ ? SymValue(node_) : SymValue::of_float(value_); }

  // The number, which is then relied on: records a guard if symbolic.
  double guard_float(SourceLocation where = SourceLocation::current()) const {
    return node_ ? node_->guard_float(where) : value_;
  }
  // The number of a plain one. Throws RuntimeError for a symbolic one.
  double expect_float() const {
    SB_CHECK(!node_, "expected a plain float, got symbolic ", node_->to_string());
    return value_;
  }
  std::string to_string() const;

 private:
  IntrusivePtr<const SymNode> node_;
  double value_ = 0;
};

SymFloat operator+(const SymFloat& a, const SymFloat& b);
SymFloat operator-(const SymFloat& a, const SymFloat& b);
SymFloat operator*(const SymFloat& a, const SymFloat& b);
SymFloat operator/(const SymFloat& a, const SymFloat& b);
SymFloat operator-(const SymFloat& a);
SymBool operator==(const SymFloat& a, const SymFloat& b);
SymBool operator!=(const SymFloat& a, const SymFloat& b);
SymBool operator<(const SymFloat& a, const SymFloat& b);
SymBool operator<=(const SymFloat& a, const SymFloat& b);
SymBool operator>(const SymFloat& a, const SymFloat& b);
SymBool operator>=(const SymFloat& a, const SymFloat& b);
SymFloat sym_min(const SymFloat& a, const SymFloat& b);
SymFloat sym_max(const SymFloat& a, const SymFloat& b);
SymFloat sym_sqrt(const SymFloat& a);
SymFloat sym_pow(const SymFloat& a, const SymFloat& exponent);
// Throw RuntimeError where a plain float is not finite or its integer does not fit a SymInt.
SymInt sym_floor(const SymFloat& a);
SymInt sym_ceil(const SymFloat& a);
SymInt sym_trunc(const SymFloat& a);

// As `torch.sym_float`.
SymFloat sym_float(const SymInt& a);
inline double sym_float(std::same_as<int64_t> auto a) { return static_cast<double>(a); }
// a / b as floats. Throws RuntimeError for a plain b of 0.
SymFloat sym_true_div(const SymInt& a, const SymInt& b);

inline double guard_float(const SymFloat& a, SourceLocation where = SourceLocation::current()) {
  return a.guard_float(where);
}
inline bool has_hint(const SymFloat& a) { return !a.is_symbolic() || a.node()->hint(); }
std::optional<double> hint(const SymFloat& a);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_SYM_FLOAT_H_
