// The node of a SymInt, SymFloat or SymBool of a ShapeEnv: an expression and its environment.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_EXPR_SYM_NODE_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_EXPR_SYM_NODE_H_

#include <optional>
#include <string>
#include <string_view>

#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

class ExprSymNode final : public SymNode {
 public:
  ExprSymNode(IntrusivePtr<ShapeEnv> env, symbolic::Expr expr)
      : env_(std::move(env)), expr_(expr) {}

  SymKind kind() const override { return expr_->kind; }
  std::string to_string() const override;
  SymValue apply(SymOp op, absl::Span<const SymValue> operands) const override;
  int64_t guard_int(SourceLocation where) const override;
  double guard_float(SourceLocation where) const override;
  bool guard_bool(SourceLocation where) const override;
  bool guard_size_oblivious(SourceLocation where) const override;
  bool expect_true(SourceLocation where, std::string_view message) const override;
  std::optional<SymValue> plain() const override;
  std::optional<SymValue> hint() const override;
  int64_t stand_in() const override;
  bool is_same(const SymNode& other) const override;

  ShapeEnv& env() const { return *env_; }
  symbolic::Expr expr() const { return expr_; }

 private:
  const IntrusivePtr<ShapeEnv> env_;
  const symbolic::Expr expr_;
};

// Throws TypeError for a node that no ShapeEnv made.
const ExprSymNode& expr_node(const SymNode& node);

SymValue plain_value(SymKind kind, symbolic::Number n);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_EXPR_SYM_NODE_H_
