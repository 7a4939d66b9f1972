// Answers that the data of an example gives, where a run goes on that would otherwise stop.

#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

using symbolic::Expr;
using symbolic::Number;

symbolic::SymbolValues ShapeEnv::values_at_hand() const {
  symbolic::SymbolValues values = hints_;
  for (const auto& [symbol, value] : bound_) values[symbol] = value;
  return values;
}

Number ShapeEnv::take_example(Expr e, SymOrigin origin) {
  refused_ = nullptr;  // what was refused before had an answer of its own
  if (settings_.on_data_dependent == OnDataDependent::Throw) throw_data_dependent(e, origin);
  const std::optional<Number> n = symbolic::evaluate(e, values_at_hand());
  if (!n) throw_data_dependent(e, origin);
  if (suppressed()) return *n;
  Expr holds = nullptr;
  if (e->kind == SymKind::Bool) {
    holds = n->i != 0 ? e : pool_.negate(e);
  } else {
    const Expr value = e->kind == SymKind::Int ? pool_.constant(n->i) : pool_.constant_float(n->d);
    holds = pool_.apply(SymOp::Eq, {e, value});
  }
  assumed_.push_back({holds, "", std::move(origin), symbolic::symbols_of(holds)});
  asserts_.push_back(assumed_.back());
  facts_.learn(holds);
  changed();
  return *n;
}

bool ShapeEnv::assume_refused() {
  const std::lock_guard lock(mutex_);
  const Expr question = std::exchange(refused_, nullptr);
  if (!question || !symbolic::evaluate(question, values_at_hand())) return false;
  const Expr e = facts_.simplify(question);
  if (e->is_const()) return false;  // answered meanwhile: something else went wrong
  take_example(e, origin_of(SourceLocation()));
  return true;
}

std::vector<RuntimeAssert> ShapeEnv::assumed() const {
  const std::lock_guard lock(mutex_);
  std::vector<RuntimeAssert> result;
  for (const Recorded& a : assumed_) result.push_back(describe_assert(a));
  return result;
}

std::optional<SymValue> ShapeEnv::at_hand(const SymValue& number) {
  if (!number.is_symbolic()) return number;
  const auto* const node = dynamic_cast<const ExprSymNode*>(number.node());
  SB_CHECK_TYPE(node && &node->env() == this, "at_hand: ", number.node()->to_string(),
                " is of another environment");
  const std::lock_guard lock(mutex_);
  const std::optional<Number> n = symbolic::evaluate(node->expr(), values_at_hand());
  if (!n) return std::nullopt;
  if (number.kind() == SymKind::Float) return SymValue::of_float(n->d);
  return number.kind() == SymKind::Bool ? SymValue::of_bool(n->i != 0) : SymValue::of_int(n->i);
}

}  // namespace sb
