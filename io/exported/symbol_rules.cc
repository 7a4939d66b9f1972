#include "switchboard/io/exported/symbol_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/io/exported/guard_expression.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

// A generator whose numbers are the same everywhere.
class Random {
 public:
  int64_t between(int64_t low, int64_t high) {  // inclusive
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto count = static_cast<uint64_t>(high - low) + 1;
    return low + static_cast<int64_t>((state_ >> 33) % count);
  }

 private:
  uint64_t state_ = 1;
};

bool holds(const Expression& condition, const SymbolValues& values) {
  const SymValue value = condition.evaluate(values);
  return value.kind() == SymKind::Bool ? value.as_bool() : value.as_int() != 0;
}

std::string numbers_text(const SymbolNumbers& numbers) {
  std::string text;
  for (const auto& [name, number] : numbers)
    text += str_cat(text.empty() ? "" : ", ", name, " = ", number);
  return text;
}

}  // namespace

SymbolValues as_values(const SymbolNumbers& numbers) {
  SymbolValues values;
  for (const auto& [name, number] : numbers) values.emplace(name, SymValue::of_int(number));
  return values;
}

SymbolRules::SymbolRules(const Program& program) : program_(program) {
  const auto input_named = [&](const std::string& name) -> const InputSpec* {
    const auto found = std::ranges::find_if(program_.inputs, [&](const InputSpec& input) {
      return input.kind == InputKind::User && input.name == name;
    });
    return found == program_.inputs.end() ? nullptr : &*found;
  };
  const auto size_of = [&](const std::string& name, int64_t dim) -> std::optional<Expression> {
    const InputSpec* const input = input_named(name);
    if (!input || !std::holds_alternative<TensorRef>(input->value)) return std::nullopt;
    const ValueMeta& meta = program_.graph.meta_of(name);
    if (dim < 0 || dim >= std::ssize(meta.sizes)) return std::nullopt;
    return meta.sizes[static_cast<size_t>(dim)];
  };
  const auto number_of = [&](const std::string& name) -> std::optional<Expression> {
    const InputSpec* const input = input_named(name);
    const auto* ref = input ? std::get_if<SymRef>(&input->value) : nullptr;
    if (!ref) return std::nullopt;
    return program_.graph.sym_values.at(ref->name);
  };

  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputSpec& input = program_.inputs[i];
    if (input.kind != InputKind::User) continue;
    if (const auto size = number_of(input.name); size && !size->is_constant())
      places_.push_back({i, std::nullopt, input.name, *size});
    if (!std::holds_alternative<TensorRef>(input.value)) continue;
    const ValueMeta& meta = program_.graph.meta_of(input.name);
    for (size_t dim = 0; dim < meta.sizes.size(); ++dim)
      if (!meta.sizes[dim].is_constant())
        places_.push_back({i, dim, str_cat(input.name, ".size(", dim, ")"), meta.sizes[dim]});
  }
  std::set<std::string> seen;
  for (const std::string& text : program_.guards) {
    if (!seen.insert(text).second) continue;
    try {
      Guard guard{text, parse_guard(text, size_of, number_of)};
      const ExpressionTerm& term = *guard.condition.term();
      if (term.kind == ExpressionTerm::Kind::Function && term.name == "Equality" &&
          term.operands.size() == 2 && term.operands[0]->kind == ExpressionTerm::Kind::Symbol &&
          term.operands[1]->kind == ExpressionTerm::Kind::Symbol &&
          term.operands[0]->name != term.operands[1]->name)
        equal_.insert({term.operands[0]->name, term.operands[1]->name});
      guards_.push_back(std::move(guard));
    } catch (const ValueError& error) {
      unread_.push_back(error.what());
    }
  }
}

std::vector<std::string> SymbolRules::symbols() const {
  std::set<std::string> names;
  for (const Place& place : places_)
    place.size.for_each_symbol([&](const std::string& name) { names.insert(name); });
  return {names.begin(), names.end()};
}

std::vector<Expression> SymbolRules::conditions() const {
  std::vector<Expression> conditions;
  for (const Guard& guard : guards_) conditions.push_back(guard.condition);
  return conditions;
}

SymbolNumbers SymbolRules::hints() const {
  SymbolNumbers numbers;
  for (const std::string& symbol : symbols()) {
    const auto hint = program_.hints.find(symbol);
    SB_CHECK_VALUE(hint != program_.hints.end(), program_.origin, ": symbol ", quote(symbol),
                   " has no hint; --dim ", symbol, "=N gives it a size");
    numbers[symbol] = hint->second.as_int();
  }
  return numbers;
}

SymbolNumbers SymbolRules::numbers_of(absl::Span<const IValue> inputs) const {
  const auto number_at = [&](const Place& place) -> std::optional<int64_t> {
    const IValue& value = inputs[place.input];
    if (!place.dim) return value.is_None() ? std::nullopt : std::optional<int64_t>(value.to_int());
    if (!value.is_Tensor() || !value.to_tensor().defined()) return std::nullopt;
    const Tensor& tensor = value.to_tensor();
    SB_CHECK_VALUE(static_cast<int64_t>(*place.dim) < tensor.dim(), program_.origin, ": input ",
                   quote(program_.inputs[place.input].name), ": expected ",
                   program_.graph.meta_of(program_.inputs[place.input].name).describe(), ", got ",
                   tensor.describe());
    return tensor.size(static_cast<int64_t>(*place.dim));
  };
  SymbolNumbers numbers;
  for (const Place& place : places_)
    if (const auto symbol = place.size.symbol())
      if (const auto number = number_at(place)) numbers.emplace(*symbol, *number);
  // A symbol that is no dimension of its own, as in 2*s0, keeps its hint if that fits.
  for (const std::string& symbol : symbols())
    if (const auto hint = program_.hints.find(symbol); hint != program_.hints.end())
      numbers.emplace(symbol, hint->second.as_int());
  for (const Place& place : places_) {
    const auto number = number_at(place);
    if (!number || !place.size.is_known(as_values(numbers))) continue;
    const int64_t expected = place.size.evaluate_int(as_values(numbers)).expect_int();
    SB_CHECK_VALUE(*number == expected, program_.origin, ": ", place.name, " is ", *number,
                   "; the program takes ", place.size.to_string(), " = ", expected, " there (",
                   numbers_text(numbers), ")");
  }
  check(numbers);
  return numbers;
}

std::vector<std::string> SymbolRules::symbols_named(const std::string& name) const {
  for (const std::string& symbol : symbols())
    if (symbol == name) {
      const std::set<std::string> equal = equal_to(symbol);
      return {equal.begin(), equal.end()};
    }
  const bool is_second = name == "seq" || name == "length";
  std::set<std::string> found;
  for (const Place& place : places_) {
    const std::string& input = program_.inputs[place.input].name;
    const bool is_named =
        place.name == name || (place.dim && str_cat(input, ".", *place.dim) == name);
    const bool is_kind = (name == "batch" && place.dim == 0u) || (is_second && place.dim == 1u);
    if (!is_named && !is_kind) continue;
    if (const auto symbol = place.size.symbol()) found.merge(equal_to(std::string(*symbol)));
  }
  SB_CHECK_VALUE(!found.empty(), "--dim: ", quote(name), " is no dynamic size of this program; ",
                 symbols().empty() ? "it has none" : "these are:\n" + describe());
  return {found.begin(), found.end()};
}

std::set<std::string> SymbolRules::equal_to(const std::string& leader) const {
  std::vector<std::string> open{leader};
  std::set<std::string> seen{leader};
  while (!open.empty()) {
    const std::string one = std::move(open.back());
    open.pop_back();
    for (const auto& [a, b] : equal_) {
      if (a != one && b != one) continue;
      const std::string& other = a == one ? b : a;
      if (seen.insert(other).second) open.push_back(other);
    }
  }
  return seen;
}

SymbolNumbers SymbolRules::with(absl::Span<const std::pair<std::string, int64_t>> sizes) const {
  SymbolNumbers numbers;
  for (const std::string& symbol : symbols())
    if (const auto hint = program_.hints.find(symbol); hint != program_.hints.end())
      numbers[symbol] = hint->second.as_int();
  for (const auto& [name, size] : sizes)
    for (const std::string& symbol : symbols_named(name)) numbers[symbol] = size;
  for (const auto& [name, size] : sizes)
    for (const std::string& symbol : symbols_named(name))
      SB_CHECK_VALUE(numbers[symbol] == size, "--dim: ", name, "=", size, " contradicts ", symbol,
                     " = ", numbers[symbol]);
  check(numbers);
  return numbers;
}

std::string SymbolRules::range_text(const std::string& symbol) const {
  const auto range = program_.ranges.find(symbol);
  if (range == program_.ranges.end()) return "";
  return str_cat(range->second.min.value_or(0), "..",
                 range->second.max ? str_cat(*range->second.max) : "");
}

std::string SymbolRules::broken(const SymbolNumbers& numbers) const {
  for (const auto& [symbol, range] : program_.ranges) {
    const auto number = numbers.find(symbol);
    if (number == numbers.end()) continue;
    if (range.min && number->second < *range.min) return str_cat(symbol, " >= ", *range.min);
    if (range.max && number->second > *range.max) return str_cat(symbol, " <= ", *range.max);
  }
  const SymbolValues values = as_values(numbers);
  for (const Place& place : places_) {
    try {
      if (place.size.is_known(values) && place.size.evaluate_int(values).expect_int() < 0)
        return str_cat(place.name, " >= 0");
    } catch (const Error& error) {
      return str_cat(place.name, " = ", place.size.to_string(), " (", error.what(), ")");
    }
  }
  for (const Guard& guard : guards_) {
    try {
      if (guard.condition.is_known(values) && !holds(guard.condition, values)) return guard.text;
    } catch (const Error& error) {
      return str_cat(guard.text, " (", error.what(), ")");
    }
  }
  return "";
}

bool SymbolRules::admits(const SymbolNumbers& numbers) const { return broken(numbers).empty(); }

void SymbolRules::check(const SymbolNumbers& numbers) const {
  const std::string constraint = broken(numbers);
  SB_CHECK_VALUE(constraint.empty(), program_.origin, ": does not take these sizes: expected ",
                 constraint, ", got ", numbers_text(numbers), "\n", describe());
}

std::vector<SymbolNumbers> SymbolRules::samples(const SymbolNumbers& first, size_t count) const {
  constexpr int64_t kLargest = 40;
  constexpr int64_t kLargestStart = int64_t{1} << 40;  // what files say may be anything
  constexpr size_t kTries = 2000;
  std::vector<SymbolNumbers> found{first};
  Random random;
  for (size_t i = 0; i < kTries && found.size() < count; ++i) {
    SymbolNumbers numbers = first;
    for (auto& [symbol, number] : numbers) {
      const auto range = program_.ranges.find(symbol);
      const bool known = range != program_.ranges.end();
      const int64_t low =
          known ? std::clamp<int64_t>(range->second.min.value_or(2), 0, kLargestStart) : 2;
      const int64_t largest = low + kLargest;
      const int64_t high = std::max(
          low, known && range->second.max ? std::min(*range->second.max, largest) : largest);
      number = i == 0                                 ? low
               : i == 1 && known && range->second.max ? high
                                                      : random.between(low, high);
    }
    for (const auto& [a, b] : equal_)
      if (const auto leader = numbers.find(a); leader != numbers.end())
        for (const std::string& other : equal_to(a)) numbers[other] = leader->second;
    if (admits(numbers) && std::ranges::find(found, numbers) == found.end())
      found.push_back(std::move(numbers));
  }
  return found;
}

std::string SymbolRules::describe() const {
  std::string text;
  for (const std::string& symbol : symbols()) {
    std::string where;
    for (const Place& place : places_)
      if (place.size.symbol() == std::string_view(symbol))
        where += (where.empty() ? "" : " = ") + place.name;
    if (where.empty())
      for (const Place& place : places_)
        place.size.for_each_symbol([&](const std::string& name) {
          if (name == symbol && where.empty())
            where = str_cat("of ", place.name, " = ", place.size.to_string());
        });
    const std::string range = range_text(symbol);
    text += str_cat("  ", symbol,
                    where.empty() ? "" : (where.starts_with("of ") ? ", " : " = ") + where,
                    range.empty() ? "" : ", in " + range, "\n");
  }
  for (const Guard& guard : guards_) text += str_cat("  ", guard.text, "\n");
  return text;
}

}  // namespace sb::io
