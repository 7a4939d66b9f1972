#include "switchboard/tools/plan_dynamic.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tools/json.h"
#include "switchboard/tools/plan/expression_order.h"
#include "switchboard/tools/plan/text_table.h"
#include "switchboard/tools/plan_run.h"

namespace sb::tools {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 40;
// How many sizes are tried one by one, where halving does not find the largest.
constexpr int64_t kMostTries = int64_t{1} << 20;

std::string commas(int64_t number) { return plan::with_commas(static_cast<uint64_t>(number)); }

int64_t largest_of(const symbolic::ValueRange& range, int64_t otherwise) {
  return range.high == symbolic::ValueRange::kInfinity ? otherwise : range.high;
}

// The largest number in [low, high] that passes, where all below one that passes do so, too.
template <class Passes>
std::optional<int64_t> largest_by_halves(int64_t low, int64_t high, Passes&& passes) {
  if (!passes(low)) return std::nullopt;
  while (low < high) {
    const int64_t middle = high - (high - low) / 2;
    if (passes(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

plan::Plan plan_with_symbols(const RunPlace& place, const RunPlan& run, const DynamicSizes& sizes) {
  try {
    return plan_on(place, run, {sizes.values(), sizes.env(), sizes.opened()});
  } catch (const Error& error) {
    // Operators call symbols as the environment does.
    std::string names;
    for (const DynamicSizes::Named& named : sizes.named())
      names += str_cat(names.empty() ? "" : ", ", named.symbol, ", which is ", named.name);
    rethrow_with_context(error, str_cat("--dynamic: with ", names, ": "));
  }
}

}  // namespace

DynamicPlan::DynamicPlan(const RunPlace& place, const RunPlan& run, const io::SymbolRules& rules,
                         const std::vector<DynamicSize>& asked, const io::SymbolNumbers& sizes)
    : device_(place.device),
      sizes_(run.archive.program, rules, asked, sizes),
      report_(plan_with_symbols(place, run, sizes_),
              [this](const SymInt& expression) { return sizes_.text(expression); }) {}

const SymInt& DynamicPlan::peak() const {
  static const SymInt nothing = 0;
  for (const plan::MemoryFormula& memory : report_.memories())
    if (memory.device == device_) return memory.peak_bytes;
  return nothing;
}

DynamicPlan::Largest DynamicPlan::largest_that_fits(size_t named, double memory) const {
  const symbolic::ValueRange range = sizes_.range(named);
  std::vector<int64_t> numbers;
  std::string others;
  for (size_t i = 0; i < sizes_.named().size(); ++i) {
    const DynamicSizes::Named& other = sizes_.named()[i];
    numbers.push_back(largest_of(sizes_.range(i), other.at_hand));
    if (i != named)
      others += str_cat(others.empty() ? " with " : ", ", other.name, " = ", commas(numbers[i]));
  }
  const auto fits = [&](int64_t number) {
    numbers[named] = number;
    try {
      return static_cast<double>(sizes_.evaluate(peak(), numbers)) <= memory;
    } catch (const RuntimeError&) {
      return false;  // more than int64 counts
    }
  };
  const auto holds = [&](int64_t number) {
    numbers[named] = number;
    return static_cast<bool>(sizes_.admits(numbers));
  };
  const int64_t high = largest_of(range, kMostSize);
  const std::string& name = sizes_.named()[named].name;
  Largest largest{named, std::nullopt, false, ""};
  const bool grows = plan::never_decreases(peak());
  std::optional<int64_t> number;
  if (grows || high - range.low > kMostTries) {
    number = largest_by_halves(range.low, high, fits);
    largest.may_be_more = !grows;
  } else {
    number = high;
  }
  for (int64_t tries = 0; number && !(fits(*number) && holds(*number)); ++tries) {
    largest.may_be_more |= tries == kMostTries;
    if (*number == range.low || tries == kMostTries)
      number.reset();
    else
      --*number;
  }
  largest.number = number;
  const std::string bytes = commas(static_cast<int64_t>(std::min(memory, 9e18)));
  if (!number) {
    largest.text = str_cat("no ", name, " that the plan holds for fits ", bytes, " bytes", others);
    return largest;
  }
  largest.may_be_more |= *number == kMostSize;
  largest.text = str_cat("largest ", name, " that fits ", bytes, " bytes: ", commas(*number),
                         largest.may_be_more ? " or more" : "", others,
                         *number == range.high ? ", the largest that the plan holds for" : "");
  return largest;
}

std::string DynamicPlan::summary_text(std::optional<double> memory) const {
  std::string text = report_.summary_text();
  for (size_t i = 0; memory && i < sizes_.named().size(); ++i)
    text += largest_that_fits(i, *memory).text + "\n";
  text += "\nholds for\n";
  for (const std::string& line : sizes_.holds_for()) text += str_cat("  ", line, "\n");
  return text;
}

std::string DynamicPlan::to_json(std::optional<double> memory) const {
  Json json = report_.to_json();
  json["sizes"] = Json::array();
  json["largest"] = Json::array();
  for (size_t i = 0; i < sizes_.named().size(); ++i) {
    const DynamicSizes::Named& named = sizes_.named()[i];
    const symbolic::ValueRange range = sizes_.range(i);
    const bool bounded = range.high != symbolic::ValueRange::kInfinity;
    json["sizes"].push_back({{"name", named.name},
                             {"low", range.low},
                             {"high", bounded ? Json(range.high) : Json()},
                             {"places", named.places}});
    if (memory)
      json["largest"].push_back(
          {{"name", named.name}, {"number", or_null(largest_that_fits(i, *memory).number)}});
  }
  json["guards"] = Json::array();
  for (const Guard& guard : sizes_.env()->guards())
    json["guards"].push_back(sizes_.text(guard.text));
  return to_text(json);
}

}  // namespace sb::tools
