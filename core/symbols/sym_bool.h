// A truth that may be a symbol: what comparing SymInts gives.

#ifndef SWITCHBOARD_CORE_SYMBOLS_SYM_BOOL_H_
#define SWITCHBOARD_CORE_SYMBOLS_SYM_BOOL_H_

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "switchboard/core/symbols/sym_node.h"

namespace sb {

// As `torch.SymBool`. `if (a == b)` guards: see SymNode. `&&` and `||` are those of the language:
// they guard the left side first and look at the right one only if they must, as Python's `and`.
// `a & b` and `a | b` (or sym_and, sym_or) give one condition and guard nothing.
class SymBool {
 public:
  SymBool() = default;
  template <std::same_as<bool> B>      // and no pointer, no int
  SymBool(B value) : value_(value) {}  // NOLINT: truths are symbolic truths
  // Throws ValueError for a null node or one of another kind.
  explicit SymBool(IntrusivePtr<const SymNode> node);
  explicit SymBool(SymValue value);

  bool is_symbolic() const { return static_cast<bool>(node_); }
  // Null for a plain one.
  const SymNode* node() const { return node_.get(); }
  SymValue value() const { return node_ ? SymValue(node_) : SymValue::of_bool(value_); }

  // The truth, which is then relied on: records a guard if symbolic.
  bool guard_bool(SourceLocation where = SourceLocation::current()) const {
    return node_ ? node_->guard_bool(where) : value_;
  }
  explicit operator bool() const { return guard_bool(SourceLocation()); }
  // The truth of a plain one. Throws RuntimeError for a symbolic one.
  bool expect_bool() const {
    SB_CHECK(!node_, "expected a plain truth, got symbolic ", node_->to_string());
    return value_;
  }
  std::string to_string() const;

  // SB_CHECK asks its condition by this, so that it means `torch._check` for a symbolic one.
  bool check_truth(std::string_view condition, SourceLocation where) const {
    return node_ ? node_->expect_true(where, condition) : value_;
  }

 private:
  IntrusivePtr<const SymNode> node_;
  bool value_ = false;
};

SymBool sym_and(const SymBool& a, const SymBool& b);
SymBool sym_or(const SymBool& a, const SymBool& b);
SymBool sym_not(const SymBool& a);
inline SymBool operator&(const SymBool& a, const SymBool& b) { return sym_and(a, b); }
inline SymBool operator|(const SymBool& a, const SymBool& b) { return sym_or(a, b); }
inline SymBool operator!(const SymBool& a) { return sym_not(a); }
// Of two symbolic truths: nothing is asked, and both sides run. With a bool on either side the
// other is asked, as in any condition.
template <std::same_as<SymBool> A, std::same_as<SymBool> B>
SymBool operator&&(const A& a, const B& b) {
  return sym_and(a, b);
}
template <std::same_as<SymBool> A, std::same_as<SymBool> B>
SymBool operator||(const A& a, const B& b) {
  return sym_or(a, b);
}
inline bool sym_not(std::same_as<bool> auto a) { return !a; }
inline bool sym_and(std::same_as<bool> auto a, std::same_as<bool> auto b) { return a && b; }
inline bool sym_or(std::same_as<bool> auto a, std::same_as<bool> auto b) { return a || b; }

// The truth, and the line that asked for it in the guard.
inline bool guard_bool(const SymBool& c, SourceLocation where = SourceLocation::current()) {
  return c.guard_bool(where);
}
// The truth where sizes that come from data count as at least 2. As
// `torch.fx.experimental.symbolic_shapes.guard_size_oblivious`.
inline bool guard_size_oblivious(const SymBool& c,
                                 SourceLocation where = SourceLocation::current()) {
  return c.is_symbolic() ? c.node()->guard_size_oblivious(where) : c.expect_bool();
}
// False if `c` does not hold. True if it does, or if that can be known at run time only: it is
// checked then. As `expect_true`; SB_CHECK on a SymBool does this.
inline bool expect_true(const SymBool& c, std::string_view message = {},
                        SourceLocation where = SourceLocation::current()) {
  return c.check_truth(message, where);
}
// Throws RuntimeError unless the condition holds, at run time where it cannot be known before. As
// `torch._check`.
void check(const SymBool& c, std::string_view message = {},
           SourceLocation where = SourceLocation::current());

inline bool has_hint(const SymBool& c) { return !c.is_symbolic() || c.node()->hint(); }
std::optional<bool> hint(const SymBool& c);
// Returns whether `c` holds for sure, without a guard: false where it is not known.
std::optional<bool> statically_known(const SymBool& c);

// The same for plain truths, so that one text of a rule serves both.
inline bool guard_bool(std::same_as<bool> auto c) { return c; }
inline bool guard_size_oblivious(std::same_as<bool> auto c) { return c; }
inline bool expect_true(std::same_as<bool> auto c, std::string_view = {}) { return c; }
inline bool has_hint(std::same_as<bool> auto) { return true; }
inline std::optional<bool> hint(std::same_as<bool> auto c) { return c; }
inline std::optional<bool> statically_known(std::same_as<bool> auto c) { return c; }

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_SYM_BOOL_H_
