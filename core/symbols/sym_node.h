// A symbolic expression, as core sees it: what SymInt, SymFloat and SymBool point to. The symbolic
// room (fake/symbolic) implements it; core knows no algebra.

#ifndef SWITCHBOARD_CORE_SYMBOLS_SYM_NODE_H_
#define SWITCHBOARD_CORE_SYMBOLS_SYM_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/source_location.h"

namespace sb {

class SymNode;

// The type of number that an expression stands for.
enum class SymKind : uint8_t { Int, Float, Bool };
std::string_view to_string(SymKind kind);

// Operations on expressions. FloorDiv and Mod round to minus infinity, as Python's // and %.
enum class SymOp : uint8_t {
  Add,       // any number of operands; Int or Float
  Mul,       // any number of operands; Int or Float
  Sub,       // Int or Float
  FloorDiv,  // Int
  Mod,       // Int; has the sign of the divisor
  Min,       // Int or Float
  Max,       // Int or Float
  Neg,       // Int or Float
  TrueDiv,   // Int or Float; gives Float
  Pow,       // Float
  Sqrt,      // Float
  Floor,     // Float; gives Int
  Ceil,      // Float; gives Int
  Trunc,     // Float; gives Int
  ToFloat,   // Int; gives Float
  ToInt,     // Bool; gives 0 or 1
  Eq,        // Int, Float or Bool; gives Bool, as the other comparisons
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,  // any number of operands; Bool
  Or,   // any number of operands; Bool
  Not,  // Bool
};
std::string_view to_string(SymOp op);

// An operand or a result: a plain number, or an expression.
class SymValue {
 public:
  static SymValue of_int(int64_t v) { return SymValue(SymKind::Int, v, 0.0); }
  static SymValue of_float(double v) { return SymValue(SymKind::Float, 0, v); }
  static SymValue of_bool(bool v) { return SymValue(SymKind::Bool, v, 0.0); }
  // Throws ValueError for a null node.
  explicit SymValue(IntrusivePtr<const SymNode> node);

  SymKind kind() const { return kind_; }
  bool is_symbolic() const { return static_cast<bool>(node_); }
  const SymNode* node() const { return node_.get(); }
  const IntrusivePtr<const SymNode>& node_ptr() const { return node_; }
  // The number of a plain value of that kind.
  int64_t as_int() const { return int_; }
  double as_float() const { return float_; }
  bool as_bool() const { return int_ != 0; }

 private:
  SymValue(SymKind kind, int64_t i, double d) : int_(i), float_(d), kind_(kind) {}

  IntrusivePtr<const SymNode> node_;
  int64_t int_ = 0;
  double float_ = 0;
  SymKind kind_;
};

// A symbolic expression. Immutable; safe to use from several threads at once. What a node cannot do
// throws RuntimeError, which is what the defaults here do.
//
// "Guards" means: the answer is taken from the sizes at hand, and the question is recorded, so that
// whoever reuses the result knows what it rests on. Where no answer is known, guards throw
// GuardOnDataDependentError. `where` is the line that asked.
class SymNode : public IntrusiveTarget {
 public:
  virtual SymKind kind() const { return SymKind::Int; }
  virtual std::string to_string() const = 0;

  // op(operands...), of which this node is one.
  virtual SymValue apply(SymOp op, absl::Span<const SymValue> operands) const;

  // The value of a node of that kind; guards.
  virtual int64_t guard_int(SourceLocation where) const;
  virtual double guard_float(SourceLocation where) const;
  virtual bool guard_bool(SourceLocation where) const;
  // guard_bool() where sizes that come from data count as at least 2: a question such as `u0 == 1`
  // has an answer then. Bool.
  virtual bool guard_size_oblivious(SourceLocation where) const;
  // False if the condition does not hold. Where it cannot be known yet, gives true and has it
  // checked when it can. Bool.
  virtual bool expect_true(SourceLocation where, std::string_view message) const;

  // The plain number, where the expression has become one meanwhile (a guard said s0 == 4). Records
  // nothing.
  virtual std::optional<SymValue> plain() const { return std::nullopt; }
  // Returns the value of the expression for the sizes at hand, where they are known. Records
  // nothing, so decide by it only what is right for all sizes.
  virtual std::optional<SymValue> hint() const { return std::nullopt; }
  // The same where they are not known, too: some number, that goes with those of the environment's
  // other expressions, so that strides order as sizes do. At least 0. Int.
  virtual int64_t stand_in() const { return 2; }
  // Returns whether the other is the same expression. Records nothing.
  virtual bool is_same(const SymNode& other) const { return this == &other; }

 private:
  [[noreturn]] void cannot(std::string_view what) const;
};

inline SymValue::SymValue(IntrusivePtr<const SymNode> node) : node_(std::move(node)) {
  SB_CHECK_VALUE(node_, "SymValue: expected a symbolic expression, got null");
  kind_ = node_->kind();
}

// Applies the operation; one operand at least must be symbolic.
SymValue sym_apply(SymOp op, absl::Span<const SymValue> operands);

// Says for a scope, on this thread, what is running, so that guards can name it: the operator's
// name and the line that entered it. Scopes nest; the innermost counts.
//   SymReason reason("aten::view");
class SymReason {
 public:
  // `reason` must outlive the scope.
  explicit SymReason(std::string_view reason, SourceLocation where = SourceLocation::current())
      : reason_(reason), where_(where), outer_(std::exchange(current_, this)) {}
  ~SymReason() { current_ = outer_; }
  SymReason(const SymReason&) = delete;
  SymReason& operator=(const SymReason&) = delete;

  std::string_view reason() const { return reason_; }
  SourceLocation where() const { return where_; }
  // The innermost scope of this thread, or null.
  static const SymReason* current() { return current_; }

 private:
  static constinit inline thread_local const SymReason* current_ = nullptr;

  std::string_view reason_;
  SourceLocation where_;
  const SymReason* outer_;
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_SYM_NODE_H_
