// What a ShapeEnv has recorded: told, and checked against sizes.

#include <algorithm>

#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

using symbolic::Expr;
using symbolic::Number;
using symbolic::ValueRange;

namespace {

// "2 <= s0 <= 7", or what there is of it; empty for no bound.
std::string range_text(const std::string& name, ValueRange range) {
  std::string text;
  if (range.low != ValueRange::kMinusInfinity) text += str_cat(range.low, " <= ");
  if (range.low == ValueRange::kMinusInfinity && range.high == ValueRange::kInfinity) return text;
  text += name;
  if (range.high != ValueRange::kInfinity) text += str_cat(" <= ", range.high);
  return text;
}

// False where the condition does not hold; " (why)" where it has no value, as the sizes overflow or
// divide by 0. True where a symbol has no value yet.
std::pair<bool, std::string> holds_for(Expr condition, const symbolic::SymbolValues& values) {
  try {
    const std::optional<Number> n = symbolic::evaluate(condition, values);
    return {!n || n->i != 0, ""};
  } catch (const RuntimeError& e) {
    return {false, str_cat(" (", e.what(), ")")};
  }
}

}  // namespace

Guard ShapeEnv::describe_guard(const Recorded& guard) const {
  Guard g{symbolic::to_string(guard.condition), guard.origin, {}};
  for (Expr s : guard.symbols) g.hints.emplace_back(*s->name, symbol_of(s).info.hint.value_or(0));
  return g;
}

RuntimeAssert ShapeEnv::describe_assert(const Recorded& assert) const {
  RuntimeAssert a{symbolic::to_string(assert.condition), assert.message, assert.origin, {}};
  for (Expr s : assert.symbols) a.symbols.push_back(*s->name);
  return a;
}

SymbolInfo ShapeEnv::describe_symbol(const Symbol& symbol) const {
  SymbolInfo info = symbol.info;
  info.size_like = facts_.is_size_like(symbol.expr);
  info.range = symbol.asked;
  if (const Expr by = facts_.replacement(symbol.expr)) info.replacement = symbolic::to_string(by);
  return info;
}

std::vector<Guard> ShapeEnv::guards() const {
  const std::lock_guard lock(mutex_);
  std::vector<Guard> result;
  for (const Recorded& g : guards_) result.push_back(describe_guard(g));
  return result;
}

std::vector<RuntimeAssert> ShapeEnv::runtime_asserts() const {
  const std::lock_guard lock(mutex_);
  std::vector<RuntimeAssert> result;
  for (const Recorded& a : asserts_) result.push_back(describe_assert(a));
  return result;
}

std::vector<RuntimeAssert> ShapeEnv::runtime_asserts(std::string_view symbol) const {
  std::vector<RuntimeAssert> result = runtime_asserts();
  std::erase_if(result, [&](const RuntimeAssert& a) {
    return std::find(a.symbols.begin(), a.symbols.end(), symbol) == a.symbols.end();
  });
  return result;
}

std::vector<SymbolInfo> ShapeEnv::symbols() const {
  const std::lock_guard lock(mutex_);
  std::vector<SymbolInfo> result;
  for (const Symbol& s : symbols_) result.push_back(describe_symbol(s));
  return result;
}

const ShapeEnv::Symbol* ShapeEnv::find_symbol(std::string_view name) const {
  for (const Symbol& s : symbols_) {
    if (s.info.name == name) return &s;
  }
  return nullptr;
}

std::optional<SymbolInfo> ShapeEnv::symbol(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const Symbol* s = find_symbol(name);
  return s ? std::optional(describe_symbol(*s)) : std::nullopt;
}

std::vector<std::string> ShapeEnv::produce_guards() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const Source& source : sources_) {
    const std::string origin = str_cat("  # ", to_string(source.origin));
    if (source.expr->is_const()) {
      lines.push_back(str_cat(source.name, " == ", source.expr->value, origin));
      continue;
    }
    if (!source.expr->is_symbol()) {
      lines.push_back(str_cat(source.name, " == ", symbolic::to_string(source.expr), origin));
      continue;
    }
    const Symbol& s = symbol_of(source.expr);
    const std::string& first = s.info.sources[0];
    if (source.name != first) {
      lines.push_back(str_cat(source.name, " == ", first, origin));
      continue;
    }
    lines.push_back(str_cat(s.info.name, " is ", source.name, origin));
    if (!s.asked.is_everything())
      lines.push_back(str_cat(range_text(s.info.name, s.asked), origin));
  }
  for (const Recorded& g : guards_)
    lines.push_back(str_cat(symbolic::to_string(g.condition), "  # ", to_string(g.origin)));
  return lines;
}

GuardsResult ShapeEnv::evaluate_guards(
    absl::Span<const std::pair<std::string, int64_t>> sizes) const {
  const std::lock_guard lock(mutex_);
  symbolic::SymbolValues values;
  std::vector<std::pair<const Source*, int64_t>> stated;
  for (const auto& [name, value] : sizes) {
    Expr expr = nullptr;
    SymOrigin origin;
    if (const auto it = source_index_.find(name); it != source_index_.end()) {
      expr = sources_[it->second].expr;
      origin = sources_[it->second].origin;
      if (!expr->is_const() && !expr->is_symbol()) {
        stated.emplace_back(&sources_[it->second], value);
        continue;
      }
    } else if (const Symbol* s = find_symbol(name)) {
      expr = s->expr;
      origin = s->info.origin;
    }
    SB_CHECK_VALUE(expr, "evaluate_guards: no source and no symbol is called ", name);
    if (expr->is_const()) {
      if (expr->value != value) return {false, str_cat(name, " == ", expr->value), origin};
      continue;
    }
    const auto [it, fresh] = values.try_emplace(expr, Number{value, static_cast<double>(value)});
    if (!fresh && it->second.i != value) {
      const std::vector<std::string>& same = symbol_of(expr).info.sources;
      return {false, str_cat(name, " == ", same[0] == name && same.size() > 1 ? same[1] : same[0]),
              origin};
    }
  }
  for (const Symbol& s : symbols_) {
    const auto it = values.find(s.expr);
    if (it == values.end()) {
      // An input that is a number, and not a size, matters only where something was asked of it.
      const bool is_asked =
          !s.asked.is_everything() || std::ranges::any_of(guards_, [&](const Recorded& g) {
            return std::ranges::find(g.symbols, s.expr) != g.symbols.end();
          });
      SB_CHECK_VALUE(s.info.unbacked || !is_asked, "evaluate_guards: no value for ", s.info.name,
                     " (", s.info.sources.empty() ? "" : s.info.sources[0], ")");
      continue;
    }
    if (s.info.kind == SymKind::Int && !s.asked.contains(it->second.i))
      return {false, range_text(s.info.name, s.asked), s.info.origin};
  }
  for (const auto& [source, value] : stated) {
    const std::optional<Number> expected = symbolic::evaluate(source->expr, values);
    if (expected && expected->i != value)
      return {false, str_cat(source->name, " == ", symbolic::to_string(source->expr)),
              source->origin};
  }
  for (const std::vector<Recorded>* list : {&guards_, &asserts_}) {
    for (const Recorded& g : *list) {
      const auto [holds, why] = holds_for(g.condition, values);
      if (!holds) return {false, symbolic::to_string(g.condition) + why, g.origin};
    }
  }
  return {};
}

std::optional<int64_t> ShapeEnv::evaluate(
    const SymInt& number, absl::Span<const std::pair<std::string, int64_t>> sizes) const {
  if (!number.is_symbolic()) return number.expect_int();
  const auto* const node = dynamic_cast<const ExprSymNode*>(number.node());
  SB_CHECK_TYPE(node && &node->env() == this, "evaluate: ", number.to_string(),
                " is of another environment");
  const std::lock_guard lock(mutex_);
  symbolic::SymbolValues values;
  for (const auto& [name, value] : sizes) {
    const auto source = source_index_.find(name);
    const Symbol* const symbol = find_symbol(name);
    Expr expr = nullptr;
    if (source != source_index_.end())
      expr = sources_[source->second].expr;
    else if (symbol)
      expr = symbol->expr;
    SB_CHECK_VALUE(expr, "evaluate: no source and no symbol is called ", name);
    if (expr->is_symbol()) values[expr] = {value, static_cast<double>(value)};
  }
  const auto result = symbolic::evaluate(node->expr(), values);
  return result ? std::optional<int64_t>(result->i) : std::nullopt;
}

void ShapeEnv::bind_unbacked(std::string_view name, int64_t value) {
  const std::lock_guard lock(mutex_);
  const Symbol* s = find_symbol(name);
  SB_CHECK_VALUE(s && s->info.unbacked && s->info.kind != SymKind::Float,
                 "bind_unbacked: expected an unbacked integer or truth, got ", name);
  SB_CHECK(s->asked.contains(value), "bind_unbacked: ", name, " is ", value, ", expected ",
           range_text(s->info.name, s->asked), "; it was made by ", to_string(s->info.origin));
  bind(*s, {value, static_cast<double>(value)}, str_cat(value));
}

void ShapeEnv::bind_unbacked_float(std::string_view name, double value) {
  const std::lock_guard lock(mutex_);
  const Symbol* s = find_symbol(name);
  SB_CHECK_VALUE(s && s->info.unbacked && s->info.kind == SymKind::Float,
                 "bind_unbacked_float: expected an unbacked float, got ", name);
  bind(*s, {0, value}, str_cat(value));
}

void ShapeEnv::bind(const Symbol& symbol, Number value, const std::string& text) {
  symbolic::SymbolValues values = values_at_hand();
  values[symbol.expr] = value;
  for (const Recorded& a : asserts_) {
    if (std::find(a.symbols.begin(), a.symbols.end(), symbol.expr) == a.symbols.end()) continue;
    const auto [holds, why] = holds_for(a.condition, values);
    SB_CHECK(holds, to_string(a.origin), ": expected ", symbolic::to_string(a.condition),
             a.message.empty() ? "" : str_cat(" (", a.message, ")"), ", got ", symbol.info.name,
             " = ", text, why);
  }
  bound_[symbol.expr] = value;
}

}  // namespace sb
