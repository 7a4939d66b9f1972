// The sizes of inputs: how they become symbols, and what is stated of them.

#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

using symbolic::Expr;
using symbolic::Number;
using symbolic::ValueRange;

SymInt ShapeEnv::known_source(const Source& source, int64_t hint) {
  SB_CHECK_VALUE(source.hint == hint, "create_symint: ", source.name, " was ", source.hint,
                 " before, and is ", hint, " now");
  return SymInt(value_of(facts_.simplify(source.expr)));
}

// A new symbol for a size: `kind` is Duck, Dynamic or Unbacked.
Expr ShapeEnv::create_size(int64_t hint, DimDynamic kind, SourceLocation where) {
  const bool unbacked = kind == DimDynamic::Unbacked;
  const Expr expr = create_symbol(SymKind::Int, unbacked ? 'u' : 's', unbacked, origin_of(where));
  const bool may_be_one = unbacked || settings_.size_oblivious || !settings_.specialize_zero_one;
  symbol_of(expr).asked = {may_be_one ? 0 : 2, ValueRange::kInfinity};
  facts_.learn_range(expr, symbol_of(expr).asked);
  if (unbacked || settings_.size_oblivious) facts_.set_size_like(expr);
  if (!unbacked) {
    symbol_of(expr).info.hint = hint;
    hints_[expr] = {hint, 0};
  } else if (settings_.on_data_dependent == OnDataDependent::TakeExample) {
    bound_[expr] = {hint, 0};
  }
  return expr;
}

void ShapeEnv::specialize(SizeSpecialization specialization) {
  const std::lock_guard lock(mutex_);
  SB_CHECK_VALUE(!source_index_.contains(specialization.source),
                 "specialize: ", specialization.source, " has a size");
  specializations_[specialization.source] = std::move(specialization);
}

SymInt ShapeEnv::create_symint(int64_t hint, std::string source, const SymbolicDim& dim,
                               SourceLocation where) {
  std::optional<SizeSpecialization> special;
  {
    const std::lock_guard lock(mutex_);
    const auto found = specializations_.find(source);
    if (found == specializations_.end()) return create_input(hint, std::move(source), dim, where);
    special = found->second;
  }
  SymbolicDim own = dim;
  own.kind = DimDynamic::Dynamic;
  const SymInt size = [&] {
    const std::lock_guard lock(mutex_);
    return create_input(special->hint, special->source, own, where);
  }();
  SB_CHECK_VALUE(guard_bool(special->holds(size), where), "specialize: ", special->source,
                 ": the condition does not hold of its hint ", special->hint);
  return size;
}

SymInt ShapeEnv::create_input(int64_t hint, std::string source, const SymbolicDim& dim,
                              SourceLocation where) {
  const ValueRange wanted = {dim.min.value_or(0), dim.max.value_or(ValueRange::kInfinity)};
  SB_CHECK_VALUE(hint >= 0, "create_symint: ", source, ": expected a size, got ", hint);
  SB_CHECK_VALUE(wanted.contains(hint), "create_symint: ", source, ": its size ", hint,
                 " is not in ", to_string(wanted));
  if (const auto it = source_index_.find(source); it != source_index_.end())
    return known_source(sources_[it->second], hint);
  DimDynamic kind =
      dim.kind.value_or(settings_.assume_static_by_default ? DimDynamic::Static : DimDynamic::Duck);
  const bool is_own =
      !settings_.duck_shape || !dim.shape_id.empty() || dim.constraint != DimConstraint::None;
  if (kind == DimDynamic::Duck && is_own) kind = DimDynamic::Dynamic;
  const bool is_special = settings_.specialize_zero_one && !settings_.size_oblivious && hint <= 1;
  if (kind != DimDynamic::Unbacked && is_special) kind = DimDynamic::Static;

  Expr expr = nullptr;
  bool fresh = false;
  if (kind == DimDynamic::Static) {
    expr = pool_.constant(hint);
  } else if (const auto same = shape_ids_.find(dim.shape_id); same != shape_ids_.end()) {
    expr = same->second;
    const auto first = hints_.find(expr);
    SB_CHECK_VALUE(first == hints_.end() || first->second.i == hint, "create_symint: ", source,
                   ": its size ", hint, " is not ", first->second.i, ", as others of shape_id ",
                   dim.shape_id);
  } else if (kind == DimDynamic::Duck && duck_.contains(hint)) {
    expr = duck_.at(hint);
  } else {
    expr = create_size(hint, kind, where);
    if (kind == DimDynamic::Duck) duck_[hint] = expr;
    if (!dim.shape_id.empty()) shape_ids_[dim.shape_id] = expr;
    fresh = true;
  }
  if (expr->is_symbol()) {
    symbol_of(expr).info.sources.push_back(source);
    if (dim.hint_override) {
      symbol_of(expr).info.hint_override = dim.hint_override;
      hint_overrides_[expr] = {*dim.hint_override, 0};
    }
  }
  source_index_.emplace(source, sources_.size());
  sources_.push_back({std::move(source), hint, expr, origin_of(where), dim.constraint});
  if (fresh && (dim.min || dim.max)) {
    Symbol& s = symbol_of(expr);
    s.asked = intersect(s.asked, wanted);
    facts_.learn_range(expr, wanted);
  } else if (expr->is_symbol() && (dim.min || dim.max)) {
    constrain(expr, wanted, false, where);
  }
  changed();
  return SymInt(value_of(facts_.simplify(expr)));
}

SymInt ShapeEnv::create_number(int64_t hint, std::string source, SourceLocation where) {
  const std::lock_guard lock(mutex_);
  if (const auto it = source_index_.find(source); it != source_index_.end())
    return known_source(sources_[it->second], hint);
  const Expr expr = create_symbol(SymKind::Int, 's', false, origin_of(where));
  symbol_of(expr).info.hint = hint;
  symbol_of(expr).info.sources.push_back(source);
  hints_[expr] = {hint, 0};
  source_index_.emplace(source, sources_.size());
  sources_.push_back({std::move(source), hint, expr, origin_of(where)});
  changed();
  return SymInt(value_of(expr));
}

SymInt ShapeEnv::state_size(const SymInt& size, int64_t hint, std::string source,
                            SourceLocation where) {
  const std::lock_guard lock(mutex_);
  SB_CHECK_VALUE(!source_index_.contains(source), "state_size: ", source, " has a size");
  Expr expr = nullptr;
  if (size.is_symbolic()) {
    SB_CHECK_VALUE(&shape_env_of(*size.node()) == this, "state_size: ", source,
                   ": its size is of another environment");
    expr = facts_.simplify(static_cast<const ExprSymNode*>(size.node())->expr());
  } else {
    expr = pool_.constant(size.expect_int());
  }
  const std::optional<Number> n = symbolic::evaluate(expr, values_at_hand());
  SB_CHECK_VALUE(!n || n->i == hint, "state_size: ", source, ": its size ", hint, " is not ",
                 symbolic::to_string(expr), expr->is_const() ? "" : str_cat(", which is ", n->i));
  if (expr->is_symbol()) symbol_of(expr).info.sources.push_back(source);
  source_index_.emplace(source, sources_.size());
  sources_.push_back({std::move(source), hint, expr, origin_of(where)});
  changed();
  return SymInt(value_of(expr));
}

void ShapeEnv::mark_dynamic(const SymInt& size, SourceLocation where) {
  const std::lock_guard lock(mutex_);
  SB_CHECK_VALUE(size.is_symbolic(), "mark_dynamic: expected a symbol, got ", size.to_string());
  const Expr e = facts_.simplify(static_cast<const ExprSymNode*>(size.node())->expr());
  SB_CHECK_VALUE(e->is_symbol() && !e->has_unbacked,
                 "mark_dynamic: expected the size of an input, got ", symbolic::to_string(e));
  marked_.emplace(e, origin_of(where));
}

}  // namespace sb
