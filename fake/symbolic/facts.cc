#include "switchboard/fake/symbolic/facts.h"

#include <algorithm>

#include "switchboard/core/error.h"

namespace sb::symbolic {

namespace {

// The x for which factor*x + constant lies in the range. `factor` is not 0.
ValueRange solve_range(ValueRange range, int64_t factor, int64_t constant) {
  if (constant == INT64_MIN) return {};
  if (range.empty()) return range;
  const ValueRange shifted = range + ValueRange::of(-constant);
  const ValueRange by = ValueRange::of(factor);
  // Rounded inwards: up at the low end, which is down of what is negated.
  const ValueRange low_end = ValueRange::of(factor > 0 ? shifted.low : shifted.high);
  const ValueRange high_end = ValueRange::of(factor > 0 ? shifted.high : shifted.low);
  return {(-floor_div(-low_end, by)).low, floor_div(high_end, by).high};
}

bool contains_symbol(Expr e, Expr symbol) {
  const std::vector<Expr> symbols = symbols_of(e);
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

}  // namespace

void Facts::forget_memos() {
  for (auto& memo : simplified_) memo.clear();
  for (auto& memo : computed_) memo.clear();
}

Expr Facts::replacement(Expr symbol) const {
  const auto it = replacements_.find(symbol);
  return it == replacements_.end() ? nullptr : it->second;
}

ValueRange Facts::known_range(Expr form) const {
  const auto it = ranges_.find(form);
  return it == ranges_.end() ? ValueRange() : it->second;
}

void Facts::set_size_like(Expr symbol) {
  if (size_like_.insert(symbol).second) forget_memos();
}

bool Facts::learn_range(Expr e, ValueRange wanted) {
  e = simplify(e);
  if (e->is_const()) return wanted.contains(e->value);
  const auto [form, factor, constant] = pool_.split(e);
  const ValueRange now = range(form);
  const ValueRange next = intersect(now, solve_range(wanted, factor, constant));
  if (next.empty()) return false;
  if (next == now) return true;
  ranges_[form] = next;
  forget_memos();
  if (next.is_single() && form->is_symbol()) replace(form, pool_.constant(next.low));
  return true;
}

void Facts::learn(Expr condition) {
  condition = simplify(condition);
  if (condition->is_const()) return;
  truths_.insert(condition);
  forget_memos();
  if (condition->is_symbol()) {
    replace(condition, pool_.constant_bool(true));
  } else if (condition->is(SymOp::Not)) {
    const Expr denied = condition->args[0];
    if (denied->is_symbol()) replace(denied, pool_.constant_bool(false));
    if (denied->is(SymOp::Or)) {
      for (Expr e : denied->args) learn(pool_.negate(e));
    }
  } else if (condition->is(SymOp::And)) {
    for (Expr e : condition->args) learn(e);
  } else if (condition->args.size() == 1 && condition->args[0]->kind == SymKind::Int) {
    const Expr sum = condition->args[0];
    if (condition->op == SymOp::Le) {
      learn_range(sum, {ValueRange::kMinusInfinity, 0});
    } else if (condition->op == SymOp::Eq) {
      solve(without_common_factors(sum));
      learn_range(sum, ValueRange::of(0));
    } else if (condition->op == SymOp::Ne) {
      const ValueRange r = range(sum);
      if (r.low == 0) learn_range(sum, {1, ValueRange::kInfinity});
      if (r.high == 0) learn_range(sum, {ValueRange::kMinusInfinity, -1});
    }
  }
}

// The sum is 0: what is left of it without symbols that are factors of all of its terms, and not 0.
Expr Facts::without_common_factors(Expr sum) {
  if (!sum->is_sum() || sum->value != 0) return sum;
  const auto has_factor = [](Expr term, Expr factor) {
    return term == factor ||
           (term->is(SymOp::Mul) && std::ranges::find(term->args, factor) != term->args.end());
  };
  const Expr first = sum->args[0];
  for (Expr factor : first->is(SymOp::Mul) ? first->args : std::vector<Expr>{first}) {
    const bool is_common = sum->is_sum() && std::ranges::all_of(sum->args, [&](Expr term) {
                             return has_factor(term, factor);
                           });
    if (is_common && !range(factor).contains(0)) sum = pool_.apply(SymOp::FloorDiv, {sum, factor});
  }
  return sum;
}

// The sum is 0: takes one of its symbols to be what makes it so.
void Facts::solve(Expr sum) {
  const std::vector<Expr> terms = sum->is_sum() ? sum->args : std::vector<Expr>{sum};
  const auto coefficient = [&](size_t i) { return sum->is_sum() ? sum->coefficients[i] : 1; };
  Expr chosen = nullptr;
  int64_t chosen_coefficient = 1;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Expr s = terms[i];
    const int64_t c = coefficient(i);
    if (!s->is_symbol() || (c != 1 && c != -1)) continue;
    // One with a hint is never what data says.
    if (sum->has_unbacked && !s->has_unbacked) continue;
    if (chosen && chosen->index > s->index) continue;
    const bool elsewhere = std::any_of(terms.begin(), terms.end(),
                                       [&](Expr t) { return t != s && contains_symbol(t, s); });
    if (elsewhere) continue;
    chosen = s;
    chosen_coefficient = c;
  }
  if (!chosen) return;
  // c*s + rest = 0, so s = -c*rest, for c is 1 or -1.
  const Expr rest = pool_.sub(sum, pool_.mul(chosen, pool_.constant(chosen_coefficient)));
  replace(chosen, pool_.mul(rest, pool_.constant(-chosen_coefficient)));
}

Expr Facts::substitute(Expr e, Expr symbol, Expr by) {
  absl::flat_hash_map<Expr, Expr> done = {{symbol, by}};
  std::vector<Expr> args;
  visit_post_order(
      e, [&](Expr n) { return done.contains(n); },
      [&](Expr n) {
        args.clear();
        for (Expr arg : n->args) args.push_back(done.at(arg));
        done[n] = pool_.rebuild(n, args);
      });
  return done.at(e);
}

void Facts::replace(Expr symbol, Expr by) {
  const ValueRange range_of_symbol = known_range(symbol);
  for (auto& [s, value] : replacements_) value = substitute(value, symbol, by);
  replacements_[symbol] = by;
  if (size_like_.contains(symbol) && by->is_symbol() && by->has_unbacked) size_like_.insert(by);
  // What was known of the symbol is now known of the other.
  std::vector<std::pair<Expr, ValueRange>> ranges;
  std::vector<Expr> truths;
  for (const auto& [form, r] : ranges_) {
    if (form != symbol && contains_symbol(form, symbol)) ranges.emplace_back(form, r);
  }
  for (Expr truth : truths_) {
    if (contains_symbol(truth, symbol)) truths.push_back(truth);
  }
  // In the order they were made, so that what follows does not depend on addresses.
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first->index < b.first->index; });
  std::sort(truths.begin(), truths.end(), [](Expr a, Expr b) { return a->index < b->index; });
  ranges_.erase(symbol);
  for (const auto& [form, r] : ranges) ranges_.erase(form);
  for (Expr truth : truths) truths_.erase(truth);
  forget_memos();
  if (by->kind == SymKind::Int) learn_range(by, range_of_symbol);
  for (const auto& [form, r] : ranges) learn_range(substitute(form, symbol, by), r);
  for (Expr truth : truths) learn(substitute(truth, symbol, by));
}

ValueRange Facts::range(Expr root, Sizes sizes) {
  auto& memo = computed_[static_cast<int>(sizes)];
  visit_post_order(
      root, [&](Expr e) { return memo.contains(e); },
      [&](Expr e) {
        const ValueRange r = compute_range(e, sizes);
        memo[e] = r;
      });
  return memo.at(root);
}

// The operands' ranges are in the memo.
ValueRange Facts::compute_range(Expr e, Sizes sizes) {
  if (e->kind == SymKind::Bool) return {0, 1};
  if (e->kind == SymKind::Float) return {};
  if (e->is_const()) return ValueRange::of(e->value);
  const auto& memo = computed_[static_cast<int>(sizes)];
  const auto arg = [&](size_t i) { return memo.at(e->args[i]); };
  ValueRange r;
  if (e->is_symbol()) {
    r = known_range(e);
    if (sizes == Sizes::Oblivious && size_like_.contains(e) && r.high >= 2)
      r = intersect(r, {2, ValueRange::kInfinity});
    return r;
  }
  switch (e->op) {
    case SymOp::Add: {
      r = ValueRange::of(0);
      for (size_t i = 0; i < e->args.size(); ++i)
        r = r + arg(i) * ValueRange::of(e->coefficients[i]);
      const auto [form, factor, constant] = pool_.split(e);
      if (const ValueRange known = known_range(form); !known.is_everything()) {
        const ValueRange scaled = known * ValueRange::of(factor);
        r = intersect(r, scaled);
      }
      return r + ValueRange::of(e->value);
    }
    case SymOp::Mul:
      r = ValueRange::of(1);
      for (size_t i = 0; i < e->args.size(); ++i) r = r * arg(i);
      break;
    case SymOp::FloorDiv:
      r = floor_div(arg(0), arg(1));
      break;
    case SymOp::Mod:
      r = floor_mod(arg(0), arg(1));
      break;
    case SymOp::Min:
    case SymOp::Max:
      r = arg(0);
      for (size_t i = 1; i < e->args.size(); ++i)
        r = e->op == SymOp::Min ? range_min(r, arg(i)) : range_max(r, arg(i));
      break;
    case SymOp::ToInt:
      r = {0, 1};
      break;
    default:  // a rounded float
      break;
  }
  return intersect(r, known_range(e));
}

std::optional<bool> Facts::decide(Expr condition, Sizes sizes) {
  if (truths_.contains(condition)) return true;
  if (truths_.contains(pool_.negate(condition))) return false;
  if (condition->args.size() != 1 || condition->args[0]->kind != SymKind::Int) return std::nullopt;
  const ValueRange r = range(condition->args[0], sizes);
  if (condition->op == SymOp::Le) {
    if (r.high <= 0) return true;
    if (r.low > 0) return false;
    return std::nullopt;
  }
  const bool equal = condition->op == SymOp::Eq;
  if (!r.contains(0)) return !equal;
  if (r.is_single()) return equal;
  return std::nullopt;
}

// A minimum without operands that are never the least, and the same for a maximum.
Expr Facts::drop_dominated(Expr e, Sizes sizes) {
  std::vector<Expr> kept;
  for (size_t i = 0; i < e->args.size(); ++i) {
    const ValueRange mine = range(e->args[i], sizes);
    bool needed = true;
    for (size_t j = 0; j < e->args.size() && needed; ++j) {
      const ValueRange other = range(e->args[j], sizes);
      if (i == j) continue;
      const bool ties = mine.is_single() && mine == other;
      const bool loses = e->op == SymOp::Min ? other.high <= mine.low : other.low >= mine.high;
      if (loses && !(ties && i < j)) needed = false;
    }
    if (needed) kept.push_back(e->args[i]);
  }
  return kept.empty() ? e : pool_.rebuild(e, kept);
}

Expr Facts::simplify_node(Expr e, Sizes sizes) {
  if (e->is_const()) return e;
  if (e->kind == SymKind::Bool) {
    const std::optional<bool> known = decide(e, sizes);
    return known ? pool_.constant_bool(*known) : e;
  }
  if (e->kind == SymKind::Float) return e;
  const ValueRange r = range(e, sizes);
  if (r.is_single()) return pool_.constant(r.low);
  if (e->is(SymOp::Min) || e->is(SymOp::Max)) return drop_dominated(e, sizes);
  if (e->is(SymOp::Mod)) {
    const ValueRange a = range(e->args[0], sizes);
    if (a.low >= 0 && a.high < range(e->args[1], sizes).low) return e->args[0];
  }
  return e;
}

Expr Facts::simplify(Expr root, Sizes sizes) {
  auto& memo = simplified_[static_cast<int>(sizes)];
  std::vector<Expr> args;
  visit_post_order(
      root, [&](Expr e) { return memo.contains(e); },
      [&](Expr e) {
        args.clear();
        for (Expr arg : e->args) args.push_back(memo.at(arg));
        const Expr replaced = replacement(e);
        const Expr result = simplify_node(replaced ? replaced : pool_.rebuild(e, args), sizes);
        memo[e] = result;
      });
  return memo.at(root);
}

}  // namespace sb::symbolic
