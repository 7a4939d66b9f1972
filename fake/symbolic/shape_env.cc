#include "switchboard/fake/symbolic/shape_env.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_join.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"

namespace sb {

using symbolic::Expr;
using symbolic::Number;
using symbolic::ValueRange;

SymOrigin origin_of(SourceLocation where) {
  const SymReason* reason = SymReason::current();
  if (!reason) return {"", where};
  return {std::string(reason->reason()), where.line() == 0 ? reason->where() : where};
}

std::string to_string(const SymOrigin& origin) {
  const std::string line = origin.where.line() == 0
                               ? std::string("a line that is not known")
                               : str_cat(origin.where.file_name(), ":", origin.where.line());
  return origin.reason.empty() ? line : str_cat(origin.reason, " (", line, ")");
}

SymValue ShapeEnv::value_of(Expr e) {
  if (!e->is_const())
    return SymValue(IntrusivePtr<const SymNode>(
        make_intrusive<ExprSymNode>(IntrusivePtr<ShapeEnv>::share(this), e)));
  switch (e->kind) {
    case SymKind::Int:
      // Through SymInt's own check: not every int64 is a SymInt.
      return SymInt(e->value).value();
    case SymKind::Float:
      return SymValue::of_float(e->float_value);
    case SymKind::Bool:
      return SymValue::of_bool(e->value != 0);
  }
  SB_ASSERT(false);
}

Expr ShapeEnv::create_symbol(SymKind kind, char letter, bool unbacked, SymOrigin origin) {
  Symbol s;
  s.info.name = str_cat(std::string(1, letter), counts_[letter]++);
  s.info.kind = kind;
  s.info.unbacked = unbacked;
  s.info.origin = std::move(origin);
  s.expr = pool_.symbol(kind, s.info.name, unbacked);
  symbols_.push_back(std::move(s));
  changed();
  return symbols_.back().expr;
}

Expr ShapeEnv::create_unbacked(SymKind kind, char letter, SourceLocation where) {
  return create_symbol(kind, letter, true, origin_of(where));
}

SymInt ShapeEnv::create_unbacked_symint(SourceLocation where) {
  const std::lock_guard lock(mutex_);
  return SymInt(value_of(create_unbacked(SymKind::Int, 'u', where)));
}
SymFloat ShapeEnv::create_unbacked_symfloat(SourceLocation where) {
  const std::lock_guard lock(mutex_);
  return SymFloat(value_of(create_unbacked(SymKind::Float, 'f', where)));
}
SymBool ShapeEnv::create_unbacked_symbool(SourceLocation where) {
  const std::lock_guard lock(mutex_);
  return SymBool(value_of(create_unbacked(SymKind::Bool, 'b', where)));
}

ValueRange ShapeEnv::range_of(const SymInt& size) {
  if (const std::optional<int64_t> number = size.maybe_int()) return ValueRange::of(*number);
  SB_CHECK_VALUE(&shape_env_of(*size.node()) == this, "range_of: ", size.to_string(),
                 " is of another environment");
  const std::lock_guard lock(mutex_);
  return facts_.range(facts_.simplify(static_cast<const ExprSymNode*>(size.node())->expr()));
}

bool ShapeEnv::suppressed() const {
  for (const SuppressGuards* s = SuppressGuards::innermost_; s; s = s->outer_) {
    if (s->env_ == this) return true;
  }
  return false;
}

void ShapeEnv::note_settled(Expr condition, const SymOrigin& origin, bool reads) {
  symbolic::Facts then = facts_;
  then.learn(condition);
  for (const Expr symbol : symbolic::symbols_of(condition)) {
    if (!reads && !then.simplify(symbol)->is_const()) continue;
    const SymbolInfo& info = symbol_of(symbol).info;
    const std::string text = symbolic::to_string(condition);
    const auto mark = marked_.find(symbol);
    if (settings_.on_settle == OnSettle::Throw || mark != marked_.end()) {
      SB_THROW(
          SettledSymbolError, to_string(origin), ": settles ", info.name, " (",
          absl::StrJoin(info.sources, ", "), "), so that ", text,
          mark == marked_.end() ? "" : str_cat("; marked dynamic by ", to_string(mark->second)));
    }
    if (settings_.on_settle == OnSettle::Record)
      settled_.push_back({info.name, info.sources, text, reads, origin});
  }
}

std::vector<SettledSymbol> ShapeEnv::settled() const {
  const std::lock_guard lock(mutex_);
  return settled_;
}

void ShapeEnv::record_guard(Expr condition, SymOrigin origin, bool reads) {
  if (suppressed()) return;
  if (settings_.on_settle != OnSettle::Allow || !marked_.empty())
    note_settled(condition, origin, reads);
  guards_.push_back({condition, "", std::move(origin), symbolic::symbols_of(condition)});
  facts_.learn(condition);
  changed();
}

bool ShapeEnv::evaluate_condition(Expr condition, SourceLocation where, bool tentative) {
  const Expr e = facts_.simplify(condition);
  if (e->is_const()) return e->value != 0;
  const std::optional<Number> n = symbolic::evaluate(e, hints_);
  if (!n && tentative && SymReason::current()) {
    refused_ = e;
    throw_data_dependent(e, origin_of(where));
  }
  if (!n) return take_example(e, origin_of(where)).i != 0;
  const bool holds = n->i != 0;
  record_guard(holds ? e : pool_.negate(e), origin_of(where));
  return holds;
}

Number ShapeEnv::evaluate_number(Expr number, SourceLocation where) {
  const Expr e = facts_.simplify(number);
  if (e->is_const()) return {e->value, e->float_value};
  const std::optional<Number> n = symbolic::evaluate(e, hints_);
  if (!n) return take_example(e, origin_of(where));
  const Expr value = e->kind == SymKind::Int ? pool_.constant(n->i) : pool_.constant_float(n->d);
  record_guard(pool_.apply(SymOp::Eq, {e, value}), origin_of(where), /*reads=*/true);
  return *n;
}

bool ShapeEnv::expect(Expr condition, SourceLocation where, std::string_view message) {
  const Expr e = facts_.simplify(condition);
  if (e->is_const()) return e->value != 0;
  if (!e->has_unbacked) return evaluate_condition(e, where);
  if (settings_.on_data_dependent == OnDataDependent::TakeExample) {
    const std::optional<Number> n = symbolic::evaluate(e, values_at_hand());
    if (n && n->i == 0) return false;
  }
  if (suppressed()) return true;
  asserts_.push_back({e, std::string(message), origin_of(where), symbolic::symbols_of(e)});
  facts_.learn(e);
  changed();
  return true;
}

int64_t ShapeEnv::stand_in(Expr number) {
  const Expr e = facts_.simplify(number);
  if (e->is_const()) return e->value;
  if (!e->has_unbacked && hint_overrides_.empty())
    return std::max<int64_t>(symbolic::evaluate(e, hints_)->i, 0);
  // Another number for each symbol, so that no two sizes look equal that may not be.
  constexpr int64_t kFirst = 16, kNumbers = 48;
  symbolic::SymbolValues values = hint_overrides_;
  for (const Expr s : symbolic::symbols_of(e)) {
    if (values.contains(s)) continue;
    if (const auto known = hints_.find(s); known != hints_.end()) {
      values.insert(*known);
      continue;
    }
    const ValueRange range = s->kind == SymKind::Int ? facts_.range(s) : ValueRange{0, 1};
    const int64_t wanted = kFirst + s->value % kNumbers;
    const int64_t value = std::clamp(wanted, range.low, std::max(range.low, range.high));
    values[s] = {value, static_cast<double>(value)};
  }
  try {
    const int64_t n = symbolic::evaluate(e, values)->i;
    if (n > 0) return n;
  } catch (const RuntimeError&) {
    // These numbers overflow, or divide by 0.
  }
  return kFirst;
}

void ShapeEnv::throw_data_dependent(Expr e, const SymOrigin& origin) const {
  const std::string text = symbolic::to_string(e);
  std::string made;
  std::string sizes;
  for (Expr s : symbolic::symbols_of(e)) {
    if (!s->has_unbacked) continue;
    const SymbolInfo& info = symbol_of(s).info;
    made += str_cat(made.empty() ? "" : ", ", info.name, " was made by ", to_string(info.origin));
    if (info.kind == SymKind::Int && !facts_.is_size_like(s))
      sizes += str_cat("; where ", info.name, " is a size, sb::constrain_range_for_size(",
                       info.name, ")");
  }
  const bool condition = e->kind == SymKind::Bool;
  SB_THROW(GuardOnDataDependentError, to_string(origin), ": ",
           condition ? "the truth of " : "the value of ", text, " depends on data: ", made,
           "; to go on, state it before: ",
           condition ? str_cat("sb::check(", text, ") or its opposite")
                     : str_cat("sb::check(", text, " == ...)"),
           sizes);
}

void ShapeEnv::constrain(Expr number, ValueRange range, bool size, SourceLocation where) {
  const Expr e = facts_.simplify(number);
  const SymOrigin origin = origin_of(where);
  const auto refuse = [&](const std::string& got) {
    SB_THROW(ValueError, "constrain_range: ", to_string(origin), ": expected ",
             symbolic::to_string(number), " in ", to_string(range), ", got ", got);
  };
  SB_CHECK_VALUE(!range.empty(), "constrain_range: ", to_string(origin), ": ",
                 symbolic::to_string(number),
                 ": expected a minimum that is not above the maximum, got ", to_string(range));
  const auto state = [&](SymOp op, int64_t bound) {
    if (bound == ValueRange::kInfinity || bound == ValueRange::kMinusInfinity) return;
    const Expr condition = pool_.apply(op, {e, pool_.constant(bound)});
    if (!e->has_unbacked) {
      const Number n = *symbolic::evaluate(e, hints_);
      if (!range.contains(n.i)) refuse(str_cat(n.i));
    }
    if (!expect(condition, where, "constrain_range")) refuse(to_string(facts_.range(e)));
  };
  if (e->is_const()) {
    if (!range.contains(e->value)) refuse(str_cat(e->value));
  } else if (e->is_symbol() && e->has_unbacked) {
    if (!facts_.learn_range(e, range)) refuse(to_string(facts_.range(e)));
    Symbol& s = symbol_of(e);
    s.asked = intersect(s.asked, range);
    changed();
  } else {
    state(SymOp::Ge, range.low);
    state(SymOp::Le, range.high);
  }
  if (!size) return;
  // What has been found equal to it is of that size too.
  for (Expr s : {number, e}) {
    if (s->is_symbol() && s->has_unbacked) facts_.set_size_like(s);
  }
  changed();
}

void constrain_range(const SymInt& a, std::optional<int64_t> min, std::optional<int64_t> max,
                     SourceLocation where) {
  const ValueRange range = {min.value_or(ValueRange::kMinusInfinity),
                            max.value_or(ValueRange::kInfinity)};
  if (!a.is_symbolic()) {
    SB_CHECK_VALUE(range.contains(a.expect_int()), "constrain_range: ", to_string(origin_of(where)),
                   ": expected a number in ", to_string(range), ", got ", a.expect_int());
    return;
  }
  ShapeEnv& env = shape_env_of(*a.node());
  const std::lock_guard lock(env.mutex_);
  env.constrain(static_cast<const ExprSymNode*>(a.node())->expr(), range, false, where);
}

void constrain_range_for_size(const SymInt& a, std::optional<int64_t> min,
                              std::optional<int64_t> max, SourceLocation where) {
  if (!a.is_symbolic()) return constrain_range(a, min.value_or(0), max, where);
  ShapeEnv& env = shape_env_of(*a.node());
  const std::lock_guard lock(env.mutex_);
  env.constrain(static_cast<const ExprSymNode*>(a.node())->expr(),
                {min.value_or(0), max.value_or(ValueRange::kInfinity)}, true, where);
}

}  // namespace sb
