#include "switchboard/fake/symbolic/expr_sym_node.h"

#include <vector>

namespace sb {

const ExprSymNode& expr_node(const SymNode& node) {
  const auto* n = dynamic_cast<const ExprSymNode*>(&node);
  SB_CHECK_TYPE(n, "ShapeEnv: ", node.to_string(), " is of no ShapeEnv");
  return *n;
}

namespace {

void expect_kind(std::string_view question, symbolic::Expr e, SymKind kind) {
  SB_CHECK_TYPE(e->kind == kind, question, ": expected ", to_string(kind), ", got ",
                to_string(e->kind), " ", symbolic::to_string(e));
}

}  // namespace

SymValue plain_value(SymKind kind, symbolic::Number n) {
  switch (kind) {
    case SymKind::Int:
      return SymValue::of_int(n.i);
    case SymKind::Float:
      return SymValue::of_float(n.d);
    case SymKind::Bool:
      return SymValue::of_bool(n.i != 0);
  }
  SB_ASSERT(false);
}

ShapeEnv& shape_env_of(const SymNode& node) { return expr_node(node).env(); }

std::string ExprSymNode::to_string() const {
  const std::lock_guard lock(env_->mutex_);
  return symbolic::to_string(env_->facts_.simplify(expr_));
}

SymValue ExprSymNode::apply(SymOp op, absl::Span<const SymValue> operands) const {
  const std::lock_guard lock(env_->mutex_);
  symbolic::ExprPool& pool = env_->pool_;
  bool has_float = false;
  for (const SymValue& v : operands) has_float |= v.kind() == SymKind::Float;
  std::vector<symbolic::Expr> args;
  for (const SymValue& v : operands) {
    symbolic::Expr e;
    if (v.is_symbolic()) {
      const ExprSymNode& node = expr_node(*v.node());
      SB_CHECK(node.env_ == env_, "symbolic ", sb::to_string(op), ": ", symbolic::to_string(expr_),
               " and ", symbolic::to_string(node.expr_), " are of two ShapeEnvs");
      e = env_->facts_.simplify(node.expr_);
    } else if (v.kind() == SymKind::Int) {
      e = pool.constant(v.as_int());
    } else {
      e = v.kind() == SymKind::Float ? pool.constant_float(v.as_float())
                                     : pool.constant_bool(v.as_bool());
    }
    // An integer among floats is a float.
    args.push_back(has_float && e->kind == SymKind::Int ? pool.apply(SymOp::ToFloat, {e}) : e);
  }
  return env_->value_of(pool.apply(op, args));
}

int64_t ExprSymNode::guard_int(SourceLocation where) const {
  const std::lock_guard lock(env_->mutex_);
  expect_kind("guard_int", expr_, SymKind::Int);
  return env_->evaluate_number(expr_, where).i;
}

double ExprSymNode::guard_float(SourceLocation where) const {
  const std::lock_guard lock(env_->mutex_);
  expect_kind("guard_float", expr_, SymKind::Float);
  return env_->evaluate_number(expr_, where).d;
}

bool ExprSymNode::guard_bool(SourceLocation where) const {
  const std::lock_guard lock(env_->mutex_);
  expect_kind("guard_bool", expr_, SymKind::Bool);
  return env_->evaluate_condition(expr_, where);
}

bool ExprSymNode::guard_size_oblivious(SourceLocation where) const {
  const std::lock_guard lock(env_->mutex_);
  expect_kind("guard_size_oblivious", expr_, SymKind::Bool);
  const symbolic::Expr e = env_->facts_.simplify(expr_, symbolic::Sizes::Oblivious);
  if (e->is_const()) return e->value != 0;
  return env_->evaluate_condition(expr_, where, /*tentative=*/true);
}

bool ExprSymNode::expect_true(SourceLocation where, std::string_view message) const {
  const std::lock_guard lock(env_->mutex_);
  expect_kind("expect_true", expr_, SymKind::Bool);
  return env_->expect(expr_, where, message);
}

std::optional<SymValue> ExprSymNode::plain() const {
  const std::lock_guard lock(env_->mutex_);
  const symbolic::Expr e = env_->facts_.simplify(expr_);
  if (!e->is_const()) return std::nullopt;
  return plain_value(e->kind, {e->value, e->float_value});
}

std::optional<SymValue> ExprSymNode::hint() const {
  const std::lock_guard lock(env_->mutex_);
  const symbolic::Expr e = env_->facts_.simplify(expr_);
  const std::optional<symbolic::Number> n = symbolic::evaluate(e, env_->hints_);
  return n ? std::optional(plain_value(e->kind, *n)) : std::nullopt;
}

int64_t ExprSymNode::stand_in() const {
  const std::lock_guard lock(env_->mutex_);
  return env_->stand_in(expr_);
}

bool ExprSymNode::is_same(const SymNode& other) const {
  const auto* node = dynamic_cast<const ExprSymNode*>(&other);
  if (!node || !(node->env_ == env_)) return false;
  const std::lock_guard lock(env_->mutex_);
  return env_->facts_.simplify(expr_) == env_->facts_.simplify(node->expr_);
}

}  // namespace sb
