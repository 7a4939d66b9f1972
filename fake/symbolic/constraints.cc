// What was promised of dimensions, against what a run asked of them.

#include "absl/strings/str_join.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

using symbolic::Expr;
using symbolic::ValueRange;

// What to state of a dimension instead, so that the condition is as promised.
std::string ShapeEnv::mend_of(Expr condition, Expr symbol) {
  const Expr now = facts_.simplify(symbol);
  if (now->is_const()) return str_cat(".kind = DimDynamic::Static, as the size is ", now->value);
  const std::vector<Expr> symbols = symbolic::symbols_of(condition);
  if (symbols.size() == 2 && condition->is(SymOp::Eq)) {
    const Expr other = symbols[0] == symbol ? symbols[1] : symbols[0];
    if (facts_.simplify(other) == now)
      return str_cat(
          "one .shape_id for ", symbol_of(symbol).info.sources[0], " and ",
          symbol_of(other).info.sources.empty() ? *other->name : symbol_of(other).info.sources[0]);
  }
  const ValueRange range = facts_.range(symbol), asked = symbol_of(symbol).asked;
  if (symbols.size() == 1 && range != asked) {
    std::vector<std::string> bounds;
    if (range.low != asked.low) bounds.push_back(str_cat(".min = ", range.low));
    if (range.high != asked.high) bounds.push_back(str_cat(".max = ", range.high));
    return absl::StrJoin(bounds, ", ");
  }
  return str_cat("FromTensorOptions::sizes, of which ", symbolic::to_string(condition), " holds");
}

void ShapeEnv::note_violations(const Source& source, std::vector<ConstraintViolation>* all) {
  if (source.expr->is_const()) {
    all->push_back({source.name, str_cat(source.name, " == ", source.expr->value),
                    source.expr->value <= 1 && settings_.specialize_zero_one
                        ? "another size at hand, or .specialize_zero_one = false"
                        : "another kind than Static",
                    source.origin});
    return;
  }
  const bool is_number = facts_.simplify(source.expr)->is_const();
  if (source.constraint == DimConstraint::Relaxed && !is_number) return;
  for (const std::vector<Recorded>* list : {&guards_, &asserts_}) {
    for (const Recorded& g : *list) {
      if (std::find(g.symbols.begin(), g.symbols.end(), source.expr) == g.symbols.end()) continue;
      all->push_back({source.name, symbolic::to_string(g.condition),
                      mend_of(g.condition, source.expr), g.origin});
    }
  }
}

std::vector<ConstraintViolation> ShapeEnv::constraint_violations() {
  const std::lock_guard lock(mutex_);
  std::vector<ConstraintViolation> all;
  for (const Source& source : sources_)
    if (source.constraint != DimConstraint::None) note_violations(source, &all);
  return all;
}

void ShapeEnv::check_constraints() {
  const std::vector<ConstraintViolation> all = constraint_violations();
  if (all.empty()) return;
  std::string text = "the run does not hold for every size that was promised:";
  for (const ConstraintViolation& v : all)
    text +=
        str_cat("\n  ", v.source, ": ", v.text, "  # ", to_string(v.origin), "; state ", v.mend);
  SB_THROW(ConstraintViolationError, text);
}

}  // namespace sb
