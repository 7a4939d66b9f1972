#include "switchboard/tools/plan/expression_order.h"

#include <utility>

#include "switchboard/core/symbols/known.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/tools/plan/polynomial.h"

namespace sb::plan {
namespace {

using symbolic::Expr;
using symbolic::ValueRange;

// Maxima of more operands stay as they are when something is added.
constexpr size_t kMostOperands = 16;

const ExprSymNode* node_of(const SymInt& value) {
  return dynamic_cast<const ExprSymNode*>(value.node());
}

// The operands of a maximum; of anything else, it alone.
std::vector<SymInt> operands_of(const SymInt& value) {
  const ExprSymNode* const node = node_of(value);
  if (!node || !node->expr()->is(SymOp::Max) || node->expr()->args.size() > kMostOperands)
    return {value};
  std::vector<SymInt> operands;
  for (const Expr operand : node->expr()->args) {
    if (operand->is_const())
      operands.emplace_back(operand->value);
    else
      operands.emplace_back(IntrusivePtr<const SymNode>(
          make_intrusive<ExprSymNode>(IntrusivePtr<ShapeEnv>::share(&node->env()), operand)));
  }
  return operands;
}

}  // namespace

symbolic::ValueRange ExpressionOrder::range_of(const SymInt& of, Expr symbol) {
  const auto found = ranges_.find(symbol);
  if (found != ranges_.end()) return found->second;
  const std::optional<SymbolInfo> info = shape_env_of(*of.node()).symbol(*symbol->name);
  return ranges_[symbol] = info ? info->range : ValueRange();
}

bool ExpressionOrder::at_least(const SymInt& a, const SymInt& b) {
  const SymInt difference = a - b;  // simplified with what is known now
  if (const std::optional<int64_t> number = difference.maybe_int()) return *number >= 0;
  if (known(difference >= 0)) return true;
  const ExprSymNode* const node = node_of(difference);
  if (!node) return false;
  const std::optional<Polynomial> polynomial = Polynomial::of(node->expr());
  return polynomial &&
         polynomial->is_never_negative([&](Expr symbol) { return range_of(difference, symbol); });
}

SymInt ExpressionOrder::larger(const SymInt& a, const SymInt& b) {
  std::vector<SymInt> values = operands_of(a);
  for (SymInt& value : operands_of(b)) values.push_back(std::move(value));
  return largest(values);
}

SymInt ExpressionOrder::sum(const SymInt& a, const SymInt& b) {
  std::vector<SymInt> sums;
  for (const SymInt& operand : operands_of(a)) sums.push_back(operand + b);
  return largest(sums);
}

std::vector<size_t> ExpressionOrder::candidates(absl::Span<const SymInt> values) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto never_less = [&](size_t k) { return at_least(values[k], values[i]); };
    if (std::ranges::any_of(kept, never_less)) continue;
    std::erase_if(kept, [&](size_t k) { return at_least(values[i], values[k]); });
    kept.push_back(i);
  }
  return kept;
}

bool never_decreases(const SymInt& expression) {
  const ExprSymNode* const root = node_of(expression);
  if (!root) return true;
  // Of each part: whether it never decreases, and never is negative.
  struct Facts {
    bool grows = false, positive = false;
  };
  absl::flat_hash_map<Expr, Facts> facts;
  symbolic::visit_post_order(
      root->expr(), [&](Expr e) { return facts.contains(e); },
      [&](Expr e) {
        const bool args_grow = std::ranges::all_of(e->args, [&](Expr a) { return facts[a].grows; });
        const bool args_positive =
            std::ranges::all_of(e->args, [&](Expr a) { return facts[a].positive; });
        const auto positive = [](int64_t c) { return c >= 0; };
        Facts mine;
        if (e->is_const()) {
          mine = {true, e->value >= 0};
        } else if (e->is_symbol()) {
          mine = {true, true};
        } else if (e->is_sum()) {
          const bool coefficients = std::ranges::all_of(e->coefficients, positive);
          mine = {args_grow && coefficients, args_positive && coefficients && e->value >= 0};
        } else if (e->is(SymOp::Mul)) {
          mine = {args_grow && args_positive, args_positive};
        } else if (e->is(SymOp::Max) || e->is(SymOp::Min)) {
          mine = {args_grow, args_positive};
        } else if (e->is(SymOp::FloorDiv) && e->args[1]->is_const() && e->args[1]->value > 0) {
          mine = {facts[e->args[0]].grows, facts[e->args[0]].positive};
        }
        facts[e] = mine;
      });
  return facts[root->expr()].grows;
}

SymInt ExpressionOrder::largest(absl::Span<const SymInt> values) {
  SymInt result = 0;
  bool first = true;
  for (const size_t i : candidates(values))
    result = std::exchange(first, false) ? values[i] : sym_max(result, values[i]);
  return result;
}

}  // namespace sb::plan
