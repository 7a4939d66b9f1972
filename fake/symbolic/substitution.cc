#include "switchboard/fake/symbolic/substitution.h"

#include <mutex>

#include "switchboard/core/error.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"

namespace sb::symbolic {
namespace {

Number number_of(const SymValue& value) {
  if (value.kind() == SymKind::Float) return {0, value.as_float()};
  return {value.kind() == SymKind::Int ? value.as_int() : value.as_bool(), 0};
}

// Checks or guards, where it is symbolic.
bool holds(const SymValue& truth) {
  return truth.is_symbolic() ? truth.node()->expect_true(SourceLocation(), "") : truth.as_bool();
}

SymValue apply(SymOp op, SymKind kind, const std::vector<SymValue>& operands) {
  std::vector<Number> numbers;
  for (const SymValue& operand : operands) {
    if (operand.is_symbolic()) return sym_apply(op, operands);
    numbers.push_back(number_of(operand));
  }
  return plain_value(kind, evaluate_op(op, operands[0].kind(), numbers));
}

// The sum of operands, each times its coefficient, and of a constant, which may be none that a
// SymInt holds: a range may end at the last integer.
SymValue sum_of(Expr e, const std::vector<SymValue>& operands) {
  SymValue sum = SymValue::of_int(e->value);
  for (size_t i = 0; i < operands.size(); ++i) {
    const SymValue product =
        apply(SymOp::Mul, SymKind::Int, {SymValue::of_int(e->coefficients[i]), operands[i]});
    sum = apply(SymOp::Add, SymKind::Int, {sum, product});
  }
  return sum;
}

SymValue apply(Expr e, std::vector<SymValue> operands) {
  if (e->is_sum()) return sum_of(e, operands);
  // An integer is compared with 0.
  const bool is_comparison =
      e->kind == SymKind::Bool && operands.size() == 1 && operands[0].kind() == SymKind::Int;
  if (is_comparison) operands.push_back(SymValue::of_int(0));
  return apply(e->op, e->kind, operands);
}

}  // namespace

std::optional<SymValue> Substitution::value_of_symbol(Expr symbol) const {
  for (const Substitution* s = this; s; s = s->outer_.get())
    if (const auto found = s->values_.find(symbol); found != s->values_.end()) return found->second;
  return std::nullopt;
}

std::optional<SymValue> Substitution::value_of(Expr root) const {
  SymbolValues numbers;
  bool all_plain = true;
  for (const Expr symbol : symbols_of(root)) {
    const std::optional<SymValue> value = value_of_symbol(symbol);
    if (!value) return std::nullopt;
    if (value->is_symbolic())
      all_plain = false;
    else
      numbers[symbol] = number_of(*value);
  }
  if (all_plain) return plain_value(root->kind, *evaluate(root, numbers));
  absl::flat_hash_map<Expr, SymValue> known;
  visit_post_order(
      root, [&](Expr e) { return known.contains(e); },
      [&](Expr e) {
        if (e->is_const()) {
          known.emplace(e, plain_value(e->kind, {e->value, e->float_value}));
        } else if (e->is_symbol()) {
          known.emplace(e, *value_of_symbol(e));
        } else {
          std::vector<SymValue> operands;
          for (const Expr arg : e->args) operands.push_back(known.at(arg));
          known.emplace(e, apply(e, std::move(operands)));
        }
      });
  return known.at(root);
}

std::optional<SymValue> Substitution::value_of(const SymNode& expression) const {
  const ExprSymNode& node = expr_node(expression);
  if (std::optional<SymValue> value = value_of(node.expr())) return value;
  // A symbol may have been found equal to others meanwhile, or to a number.
  const Expr simple = [&] {
    const std::lock_guard lock(node.env().mutex_);
    return node.env().facts_.simplify(node.expr());
  }();
  return simple == node.expr() ? std::nullopt : value_of(simple);
}

bool Substitution::bind(const SymNode& expression, const SymValue& value) {
  const ExprSymNode& node = expr_node(expression);
  const Expr e = node.expr();
  if (std::ranges::find(environments_, &node.env(), &IntrusivePtr<ShapeEnv>::get) ==
      environments_.end())
    environments_.push_back(IntrusivePtr<ShapeEnv>::share(&node.env()));
  // Those of the run around count for what this run does not tell.
  const auto own = values_.find(e);
  if (e->is_symbol() && own == values_.end()) {
    values_.emplace(e, value);
    return true;
  }
  const std::optional<SymValue> known = value_of(e);
  if (!known) return !e->is_sum() || bind_in_sum(e, value);
  if (known->is_symbolic() || value.is_symbolic())
    return holds(sym_apply(SymOp::Eq, {*known, value}));
  return e->kind == SymKind::Float ? known->as_float() == value.as_float()
                                   : number_of(*known).i == number_of(value).i;
}

bool Substitution::bind_in_sum(Expr sum, const SymValue& value) {
  SymInt rest = SymInt(value) - SymInt(sum->value);
  std::optional<size_t> unknown;
  for (size_t i = 0; i < sum->args.size(); ++i) {
    const std::optional<SymValue> known = value_of(sum->args[i]);
    if (known) {
      rest -= SymInt(sum->coefficients[i]) * SymInt(*known);
    } else {
      if (unknown || !sum->args[i]->is_symbol()) return true;
      unknown = i;
    }
  }
  const int64_t factor = sum->coefficients[*unknown];
  if (rest.is_symbolic()) {
    if (factor == 1) values_.emplace(sum->args[*unknown], rest.value());
    return true;
  }
  if (rest.expect_int() % factor != 0) return false;
  values_.emplace(sum->args[*unknown], SymValue::of_int(rest.expect_int() / factor));
  return true;
}

std::string Substitution::broken_condition() {
  struct Condition {
    Expr expr;
    std::string whose;  // behind "s0 <= 7, "
  };
  for (const IntrusivePtr<ShapeEnv>& env : environments_) {
    std::vector<Condition> conditions;
    const auto add = [&](Expr e, std::string whose) {
      if (!looked_at_.contains(e)) conditions.push_back({e, std::move(whose)});
    };
    {
      const std::lock_guard lock(env->mutex_);
      for (const ShapeEnv::Symbol& symbol : env->symbols_) {
        if (symbol.info.kind != SymKind::Int || !values_.contains(symbol.expr)) continue;
        const std::string whose =
            str_cat("the range of ",
                    symbol.info.sources.empty() ? symbol.info.name : symbol.info.sources[0]);
        if (symbol.asked.low != ValueRange::kMinusInfinity) {
          const Expr below = env->pool_.sub(env->pool_.constant(symbol.asked.low), symbol.expr);
          add(env->pool_.compare_with_zero(SymOp::Le, below), whose);
        }
        if (symbol.asked.high != ValueRange::kInfinity) {
          const Expr above = env->pool_.sub(symbol.expr, env->pool_.constant(symbol.asked.high));
          add(env->pool_.compare_with_zero(SymOp::Le, above), whose);
        }
      }
      for (const auto* const list : {&env->guards_, &env->asserts_})
        for (const ShapeEnv::Recorded& r : *list)
          add(r.condition, str_cat("as ", to_string(r.origin), " asked"));
    }
    for (const Condition& condition : conditions) {
      const std::optional<SymValue> truth = value_of(condition.expr);
      if (!truth) continue;
      looked_at_.insert(condition.expr);
      if (!holds(*truth)) return str_cat(to_string(condition.expr), ", ", condition.whose);
    }
  }
  return "";
}

}  // namespace sb::symbolic
