#include "switchboard/core/symbols/sym_bool.h"

namespace sb {

SymBool::SymBool(IntrusivePtr<const SymNode> node) : node_(std::move(node)) {
  SB_CHECK_VALUE(node_, "SymBool: expected a symbolic expression, got null");
  SB_CHECK_VALUE(node_->kind() == SymKind::Bool, "SymBool: expected a condition, got ",
                 sb::to_string(node_->kind()), " ", node_->to_string());
}

SymBool::SymBool(SymValue value)
    : SymBool(value.is_symbolic() ? SymBool(value.node_ptr()) : SymBool(value.as_bool())) {}

std::string SymBool::to_string() const {
  if (node_) return node_->to_string();
  return value_ ? "True" : "False";
}

SymBool sym_and(const SymBool& a, const SymBool& b) {
  if (!a.is_symbolic()) return a.expect_bool() ? b : a;
  if (!b.is_symbolic()) return b.expect_bool() ? a : b;
  return SymBool(sym_apply(SymOp::And, {a.value(), b.value()}));
}
SymBool sym_or(const SymBool& a, const SymBool& b) {
  if (!a.is_symbolic()) return a.expect_bool() ? a : b;
  if (!b.is_symbolic()) return b.expect_bool() ? b : a;
  return SymBool(sym_apply(SymOp::Or, {a.value(), b.value()}));
}
SymBool sym_not(const SymBool& a) {
  if (!a.is_symbolic()) return !a.expect_bool();
  return SymBool(sym_apply(SymOp::Not, {a.value()}));
}

void check(const SymBool& c, std::string_view message, SourceLocation where) {
  if (expect_true(c, message, where)) return;
  SB_THROW(RuntimeError, message.empty() ? str_cat("check failed: expected ", c.to_string())
                                         : std::string(message));
}

std::optional<bool> hint(const SymBool& c) {
  if (!c.is_symbolic()) return c.expect_bool();
  const std::optional<SymValue> v = c.node()->hint();
  return v ? std::optional(v->as_bool()) : std::nullopt;
}

std::optional<bool> statically_known(const SymBool& c) {
  if (!c.is_symbolic()) return c.expect_bool();
  const std::optional<SymValue> v = c.node()->plain();
  return v ? std::optional(v->as_bool()) : std::nullopt;
}

}  // namespace sb
