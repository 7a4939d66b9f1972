#include "switchboard/tools/dynamic_sizes.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::tools {
namespace {

// Sizes at hand are not larger, so that what is counted with them does not overflow.
constexpr int64_t kLargestAtHand = 1 << 16;

DynamicSize parse_one(const std::string& text) {
  const std::vector<std::string> halves = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const size_t dots = halves.size() == 2 ? halves[1].find("..") : std::string::npos;
  SB_CHECK_VALUE(dots != std::string::npos && !halves[0].empty(),
                 "--dynamic: expected NAME=LOW..HIGH, of which LOW and HIGH may be left out, got ",
                 io::quote(text));
  const auto end = [&](const std::string& number) -> std::optional<int64_t> {
    int64_t value = 0;
    if (number.empty()) return std::nullopt;
    SB_CHECK_VALUE(absl::SimpleAtoi(number, &value), "--dynamic: ", halves[0],
                   ": expected a range such as 1..64, got ", io::quote(halves[1]));
    return value;
  };
  DynamicSize size{halves[0], end(halves[1].substr(0, dots)).value_or(1),
                   end(halves[1].substr(dots + 2))};
  SB_CHECK_VALUE(size.low >= 1, "--dynamic: ", size.name, ": expected sizes of at least 1, got ",
                 halves[1]);
  SB_CHECK_VALUE(!size.high || size.low <= *size.high, "--dynamic: ", size.name, ": the range ",
                 halves[1], " is empty: it begins above its end");
  return size;
}

std::string range_text(const DynamicSize& size) {
  return str_cat(size.low, "..", size.high ? str_cat(*size.high) : "");
}

bool is_open_dim(const io::InputSpec& input) {
  return input.kind == io::InputKind::User && std::holds_alternative<io::TensorRef>(input.value);
}

io::Expression symbol_called(const std::string& name) {
  return io::Expression(std::make_shared<io::ExpressionTerm>(
      io::ExpressionTerm{.kind = io::ExpressionTerm::Kind::Symbol, .name = name}));
}

io::Expression product(const io::Expression& a, const io::Expression& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() * b.constant();
  return io::Expression(std::make_shared<io::ExpressionTerm>(
      io::ExpressionTerm{.kind = io::ExpressionTerm::Kind::Function,
                         .name = "Mul",
                         .operands = {a.term(), b.term()}}));
}

// Strides of the same order for other sizes. Throws ValueError where elements do not lie one after
// the other, which says nothing of other sizes.
std::vector<io::Expression> strides_for(const io::ValueMeta& meta, const std::string& input,
                                        const std::vector<io::Expression>& sizes) {
  std::vector<size_t> order(meta.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t d) {
    return std::pair(meta.strides[d].constant(), -static_cast<int64_t>(d));
  });
  std::vector<io::Expression> strides(sizes.size());
  io::Expression next = 1;
  int64_t expected = 1;
  for (const size_t d : order) {
    SB_CHECK_VALUE(meta.strides[d].constant() == expected || meta.sizes[d].constant() == 1,
                   "--dynamic: input ", io::quote(input), ", ", meta.describe(),
                   ", has gaps between its elements: its sizes cannot be symbols");
    strides[d] = next;
    next = product(next, sizes[d]);
    expected *= meta.sizes[d].constant();
  }
  return strides;
}

}  // namespace

std::vector<DynamicSize> DynamicSize::parse_list(const std::string& text) {
  std::vector<DynamicSize> sizes;
  std::set<std::string> names;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    sizes.push_back(parse_one(std::string(part)));
    SB_CHECK_VALUE(names.insert(sizes.back().name).second, "--dynamic: ", sizes.back().name,
                   " is given twice");
  }
  return sizes;
}

DynamicSizes::Target DynamicSizes::find_target(const std::string& name) const {
  Target target;
  try {
    target.symbols = rules_.symbols_named(name);
    return target;
  } catch (const ValueError&) {
    // None of the file's: a dimension that it leaves closed?
  }
  std::string known;
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const io::InputSpec& input = program_.inputs[i];
    if (!is_open_dim(input)) continue;
    const io::ValueMeta& meta = program_.graph.meta_of(input.name);
    known += str_cat("\n  ", input.name, " ", meta.describe());
    if (!meta.is_static()) continue;
    for (size_t d = 0; d < meta.sizes.size(); ++d)
      if (name == str_cat(input.name, ".size(", d, ")") || name == str_cat(input.name, ".", d) ||
          (name == "batch" && d == 0) || ((name == "seq" || name == "length") && d == 1))
        target.dims.emplace_back(i, d);
  }
  SB_CHECK_VALUE(!target.dims.empty(), "--dynamic: ", io::quote(name),
                 " is no symbol of this program, no dimension of an input such as x.0, and none of "
                 "batch, seq and length; its inputs are",
                 known, rules_.symbols().empty() ? "" : "\nand its symbols\n" + rules_.describe());
  return target;
}

void DynamicSizes::open(const Target& target, const std::string& name) {
  for (const auto& [input, dim] : target.dims) {
    const auto [found, fresh] =
        opened_.try_emplace(input, program_.graph.meta_of(program_.inputs[input].name));
    SB_CHECK_VALUE(found->second.sizes[dim].is_constant(), "--dynamic: ", name, " and ",
                   *found->second.sizes[dim].symbol(), " are one dimension, ",
                   program_.inputs[input].name, ".size(", dim, ")");
    found->second.sizes[dim] = symbol_called(name);
  }
}

// The largest that were asked for, if the program takes them: what does not fit them is not asked.
void DynamicSizes::choose_sizes_at_hand(const std::vector<Target>& targets,
                                        std::vector<DynamicSize>* asked,
                                        const io::SymbolNumbers& sizes) {
  for (size_t i = 0; i < targets.size(); ++i) {
    DynamicSize& size = asked->at(i);
    const std::string wanted = range_text(size);
    for (const std::string& symbol : targets[i].symbols) {
      const auto range = program_.ranges.find(symbol);
      if (range == program_.ranges.end()) continue;
      size.low = std::max(size.low, range->second.min.value_or(1));
      if (const auto max = range->second.max) size.high = std::min(size.high.value_or(*max), *max);
    }
    SB_CHECK_VALUE(!size.high || size.low <= *size.high, "--dynamic: ", size.name,
                   ": the program takes none of ", wanted, ", but\n", rules_.describe());
  }
  const auto numbers_with = [&](const std::function<int64_t(size_t)>& choice) {
    io::SymbolNumbers numbers = sizes;
    for (size_t i = 0; i < targets.size(); ++i)
      for (const std::string& symbol : targets[i].symbols) numbers[symbol] = choice(i);
    return numbers;
  };
  // As the file was exported, or in a closed dimension as it is.
  const auto exported = [&](size_t i) -> int64_t {
    if (!targets[i].symbols.empty()) {
      const auto hint = program_.hints.find(targets[i].symbols[0]);
      return hint == program_.hints.end() ? 2 : hint->second.as_int();
    }
    const auto [input, dim] = targets[i].dims[0];
    return program_.graph.meta_of(program_.inputs[input].name).sizes[dim].constant();
  };
  const auto within = [&](size_t i, int64_t number) {
    const DynamicSize& size = asked->at(i);
    return std::clamp(number, size.low, size.high.value_or(std::max(size.low, number)));
  };
  const std::function<int64_t(size_t)> choices[] = {
      [&](size_t i) {
        const auto high = asked->at(i).high;
        return high && *high <= kLargestAtHand ? *high : within(i, exported(i));
      },
      [&](size_t i) { return within(i, exported(i)); },
      [&](size_t i) { return asked->at(i).low; },
  };
  std::vector<io::SymbolNumbers> tried;
  for (const auto& choice : choices) tried.push_back(numbers_with(choice));
  const auto taken = std::ranges::find_if(
      tried, [&](const io::SymbolNumbers& numbers) { return rules_.admits(numbers); });
  if (taken == tried.end()) rules_.check(tried[1]);  // throws what is wrong with these
  const auto& choice = choices[taken - tried.begin()];
  for (size_t i = 0; i < targets.size(); ++i)
    named_.push_back({asked->at(i).name, choice(i), {}, {}});
}

DynamicSizes::DynamicSizes(const io::Program& program, const io::SymbolRules& rules,
                           const std::vector<DynamicSize>& asked, const io::SymbolNumbers& sizes)
    : program_(program),
      rules_(rules),
      env_(ShapeEnv::create({.allow_scalar_outputs = false,
                             .allow_dynamic_output_shape_ops = false,
                             .specialize_zero_one = false,
                             .duck_shape = false,
                             .on_settle = OnSettle::Throw})),
      values_(io::as_values(sizes)) {
  std::vector<Target> targets;
  std::map<std::string, std::string> owners;
  for (const DynamicSize& size : asked) {
    targets.push_back(find_target(size.name));
    for (const std::string& symbol : targets.back().symbols) {
      const auto [owner, fresh] = owners.emplace(symbol, size.name);
      SB_CHECK_VALUE(fresh, "--dynamic: ", size.name, " and ", owner->second, " are one symbol, ",
                     symbol);
    }
    open(targets.back(), size.name);
  }
  std::vector<DynamicSize> ranges = asked;
  choose_sizes_at_hand(targets, &ranges, sizes);
  for (size_t i = 0; i < targets.size(); ++i) {
    Named& named = named_[i];
    // Its name is its source, by which the environment's errors call it.
    const SymInt size = env_->create_symint(named.at_hand, named.name, DimDynamic::Dynamic,
                                            ranges[i].low, ranges[i].high);
    named.symbol = env_->symbols().back().name;
    for (const std::string& symbol : targets[i].symbols)
      values_.insert_or_assign(symbol, size.value());
    if (targets[i].symbols.empty()) values_.insert_or_assign(named.name, size.value());
    for (const io::SymbolRules::Place& place : rules.places())
      if (const auto symbol = place.size.symbol())
        if (std::ranges::find(targets[i].symbols, *symbol) != targets[i].symbols.end())
          named.places.push_back(place.name);
    for (const auto& [input, dim] : targets[i].dims)
      named.places.push_back(str_cat(program.inputs[input].name, ".size(", dim, ")"));
  }
  for (auto& [input, meta] : opened_) {
    const std::string& name = program.inputs[input].name;
    meta.strides = strides_for(program.graph.meta_of(name), name, meta.sizes);
  }
  assume_rules();
}

void DynamicSizes::assume_rules() {
  for (const io::Expression& condition : rules_.conditions()) {
    if (!condition.is_known(values_)) continue;
    const SymValue truth = condition.evaluate(values_);
    if (truth.kind() == SymKind::Bool && truth.is_symbolic()) SymBool(truth).guard_bool();
  }
  assumed_ = env_->guards().size();
}

std::string DynamicSizes::text(const std::string& environments) const {
  const auto is_word = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string result;
  for (size_t i = 0; i < environments.size();) {
    size_t end = i;
    while (end < environments.size() && is_word(environments[end])) ++end;
    std::string word = environments.substr(i, std::max<size_t>(1, end - i));
    i += word.size();
    for (const Named& named : named_)
      if (named.symbol == word) {
        word = named.name;
        break;
      }
    result += word;
  }
  return result;
}

DynamicSizes::Numbers DynamicSizes::with_names(const std::vector<int64_t>& numbers) const {
  Numbers pairs;
  for (size_t i = 0; i < named_.size(); ++i) pairs.emplace_back(named_[i].name, numbers.at(i));
  return pairs;
}

int64_t DynamicSizes::evaluate(const SymInt& expression,
                               const std::vector<int64_t>& numbers) const {
  if (const auto number = expression.maybe_int()) return *number;
  const std::optional<int64_t> value = env_->evaluate(expression, with_names(numbers));
  SB_CHECK_VALUE(value, "--dynamic: ", text(expression), " depends on data");
  return *value;
}

GuardsResult DynamicSizes::admits(const std::vector<int64_t>& numbers) const {
  return env_->evaluate_guards(with_names(numbers));
}

symbolic::ValueRange DynamicSizes::range(size_t named) const {
  return env_->symbol(named_.at(named).symbol)->range;
}

std::vector<std::string> DynamicSizes::holds_for() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < named_.size(); ++i) {
    const symbolic::ValueRange known = range(i);
    const bool bounded = known.high != symbolic::ValueRange::kInfinity;
    lines.push_back(str_cat(named_[i].name, " in ", known.low, "..",
                            bounded ? str_cat(known.high) : "", " (",
                            absl::StrJoin(named_[i].places, ", "), ")"));
  }
  const std::vector<Guard> guards = env_->guards();
  for (size_t i = 0; i < guards.size(); ++i)
    lines.push_back(str_cat(text(guards[i].text), "  [",
                            i < assumed_ ? "the file says so" : to_string(guards[i].origin), "]"));
  return lines;
}

}  // namespace sb::tools
