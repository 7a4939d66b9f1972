#include "switchboard/tools/plan_ranks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/fake/fake_engine.h"
#include "switchboard/distributed/plan/traffic.h"
#include "switchboard/distributed/world.h"
#include "switchboard/tools/plan/text_table.h"

namespace sb::tools {
namespace {

constexpr int64_t kMostRanks = 1'000'000;
constexpr Unit kByteUnits[] = {
    {"B", 1},     {"kB", 1e3},   {"MB", 1e6},           {"GB", 1e9},
    {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1024. * 1024}, {"GiB", 1024. * 1024 * 1024}};
constexpr Unit kRateUnits[] = {
    {"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
constexpr Unit kTimeUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kFlopUnits[] = {
    {"FLOP/s", 1}, {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};

std::string commas(int64_t number) { return plan::with_commas(static_cast<uint64_t>(number)); }

std::string milliseconds(double seconds) { return absl::StrFormat("%.4g ms", 1e3 * seconds); }

// "0-14, 16-30"; of many runs the first.
std::string runs_text(absl::Span<const int64_t> ranks) {
  constexpr size_t kShown = 3;
  std::vector<std::string> runs;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (runs.size() == kShown) {
      runs.push_back("...");
      break;
    }
    runs.push_back(end - i == 1 ? str_cat(ranks[i]) : str_cat(ranks[i], "-", ranks[end - 1]));
    i = end;
  }
  return absl::StrJoin(runs, ", ");
}

// The dimensions that calls use, in the order of their column: -1, all ranks, is last.
std::vector<int64_t> dims_used(absl::Span<const PlannedCall> calls, size_t count) {
  std::vector<int64_t> used;
  for (size_t column = 0; column <= count; ++column) {
    const int64_t dim = column == count ? -1 : static_cast<int64_t>(column);
    if (std::any_of(calls.begin(), calls.end(), [&](const auto& c) { return c.dim == dim; }))
      used.push_back(dim);
  }
  return used;
}

std::string title_of(int64_t dim, absl::Span<const DeviceMesh::Dim> mesh) {
  return dim < 0 ? "all ranks" : mesh[static_cast<size_t>(dim)].name;
}

std::string kinds_text(absl::Span<const PlannedCall> calls, const RanksOptions& options,
                       int64_t peak_bytes) {
  const std::vector<int64_t> dims = dims_used(calls, options.mesh.size());
  std::vector<std::string> titles = {"ranks", ">number", ">peak bytes"};
  for (int64_t dim : dims) titles.push_back(str_cat(">sent over ", title_of(dim, options.mesh)));
  plan::TextTable table(titles);
  for (const RankKind& kind : rank_kinds(calls, options.mesh)) {
    std::vector<std::string> row = {runs_text(kind.ranks), commas(std::ssize(kind.ranks)),
                                    commas(peak_bytes)};
    for (int64_t dim : dims)
      row.push_back(commas(dim < 0 ? kind.sent.back() : kind.sent[static_cast<size_t>(dim)]));
    table.add(std::move(row));
  }
  return table.to_string();
}

// A line for each dimension, and how long all of them take.
std::string times_text(absl::Span<const PlannedCall> calls, const RanksOptions& options,
                       const plan::Plan& plan) {
  if (!options.link) return "";
  double total = 0;
  plan::TextTable table(
      {"collectives over", ">ranks", ">calls", ">ring", ">tree", ">faster of each"});
  for (int64_t dim : dims_used(calls, options.mesh.size())) {
    double ring = 0, tree = 0, best = 0;
    int64_t count = 0, size = 0;
    for (const PlannedCall& call : calls) {
      if (call.dim != dim) continue;
      const double by_ring = ring_seconds(call, *options.link);
      const double by_tree = tree_seconds(call, *options.link);
      ring += by_ring;
      tree += by_tree;
      best += std::min(by_ring, by_tree);
      size = call.group_size;
      ++count;
    }
    total += best;
    table.add({title_of(dim, options.mesh), commas(size), commas(count), milliseconds(ring),
               milliseconds(tree), milliseconds(best)});
  }
  std::string text = calls.empty() ? "" : "\n" + table.to_string();
  text +=
      str_cat("\ntime in collectives: ", milliseconds(total),
              absl::StrFormat(" at %.4g GB/s and %.4g us a step\n",
                              options.link->bytes_per_second / 1e9, options.link->latency * 1e6));
  if (!options.flops_per_second) return text;
  const double computing =
      static_cast<double>(plan.total().flops.number()) / *options.flops_per_second;
  text += str_cat("time in computing: ", milliseconds(computing),
                  "; together, one after the other: ", milliseconds(computing + total), "\n");
  return text;
}

// The largest batch whose plan fits: first up from the size that the program was exported with, or
// down.
std::string batch_text(const PlanAt& plan_at, double memory, Device device, DispatchMode& mode,
                       const io::SymbolRules& rules, const io::SymbolNumbers& sizes) {
  const std::string closed = "largest batch: the program leaves no batch size open";
  std::vector<std::string> symbols;
  try {
    symbols = rules.symbols_named("batch");
  } catch (const ValueError&) {
    return closed;
  }
  if (symbols.empty()) return closed;
  enum class Verdict : uint8_t { Fits, TooLarge, Refused };
  const auto judge = [&](int64_t batch) {
    std::vector<std::pair<std::string, int64_t>> asked = {{"batch", batch}};
    for (const auto& [name, size] : sizes)
      if (std::find(symbols.begin(), symbols.end(), name) == symbols.end())
        asked.emplace_back(name, size);
    io::SymbolNumbers at;
    try {
      at = rules.with(asked);
    } catch (const ValueError&) {
      return Verdict::Refused;
    }
    const int64_t peak = plan::memory_on(plan_at(at, mode), device).peak_bytes;
    return static_cast<double>(peak) <= memory ? Verdict::Fits : Verdict::TooLarge;
  };
  constexpr int64_t kMost = int64_t{1} << 30;
  int64_t low = 0, high = sizes.at(symbols[0]);  // the largest that fits is in [low, high)
  Verdict at_high = judge(high);
  const bool upwards = at_high == Verdict::Fits;
  while (at_high == Verdict::Fits && high < kMost) {
    low = high;
    high *= 2;
    at_high = judge(high);
  }
  if (at_high == Verdict::Fits) return str_cat("largest batch that fits: at least ", commas(high));
  bool has_gaps = false;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const Verdict verdict = judge(middle);
    // Sizes that are too small for the program lie below those that fit.
    const bool too_small = verdict == Verdict::Refused && !upwards;
    has_gaps |= verdict == Verdict::Refused && upwards && at_high == Verdict::TooLarge;
    if (verdict == Verdict::Fits || too_small) {
      low = middle;
    } else {
      high = middle;
      at_high = verdict;
    }
  }
  if (low == 0 || judge(low) != Verdict::Fits)
    return "largest batch: none that the program takes fits";
  return str_cat("largest batch that fits, and that the program takes: ", commas(low),
                 has_gaps ? " or more: it refuses some sizes between those that it takes" : "");
}

}  // namespace

absl::Span<const Unit> byte_units() { return kByteUnits; }

double parse_quantity(std::string_view flag, std::string_view text, absl::Span<const Unit> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && std::isfinite(number) && number >= 0)
    for (const Unit& unit : units)
      if (unit.name == std::string_view(rest, static_cast<size_t>(end - rest)))
        return number * unit.factor;
  SB_THROW(
      ValueError, "--", flag, ": expected a number with one of the units ",
      absl::StrJoin(units, ", ", [](std::string* out, const Unit& unit) { *out += unit.name; }),
      "; got '", text, "'");
}

int64_t RanksOptions::ranks() const {
  int64_t ranks = 1;
  for (const DeviceMesh::Dim& dim : mesh) {
    SB_CHECK_VALUE(dim.size >= 1 && dim.size <= kMostRanks / ranks, "--mesh: ", dim.name, "=",
                   dim.size, ": expected at least 1, and at most ", commas(kMostRanks),
                   " ranks in all");
    ranks *= dim.size;
  }
  return ranks;
}

std::optional<RanksOptions> RanksOptions::parse(const CommandLine& line) {
  RanksOptions options;
  const std::optional<int> ranks = line.find_count("ranks");
  for (const auto& [name, size] : line.get_sizes("mesh")) options.mesh.push_back({name, size});
  if (options.mesh.empty() && !ranks) {
    for (const char* flag : {"link", "latency", "flops", "device-memory"})
      SB_CHECK_VALUE(!line.has(flag), "--", flag, ": expected --ranks or --mesh with it");
    return std::nullopt;
  }
  if (options.mesh.empty()) options.mesh.push_back({"all", *ranks});
  SB_CHECK_VALUE(!ranks || *ranks == options.ranks(), "--mesh: expected sizes that make up ",
                 *ranks, " ranks, got ", options.ranks());
  const auto read = [&](const char* flag, absl::Span<const Unit> units) -> std::optional<double> {
    const std::optional<std::string> text = line.find(flag);
    return text ? std::optional(parse_quantity(flag, *text, units)) : std::nullopt;
  };
  if (const auto rate = read("link", kRateUnits)) {
    SB_CHECK_VALUE(*rate > 0, "--link: expected more than 0");
    options.link = Link{*rate};
  }
  if (const auto latency = read("latency", kTimeUnits)) {
    SB_CHECK_VALUE(options.link, "--latency: expected --link with it");
    options.link->latency = *latency;
  }
  options.flops_per_second = read("flops", kFlopUnits);
  if (options.flops_per_second) {
    SB_CHECK_VALUE(options.link, "--flops: expected --link with it");
    SB_CHECK_VALUE(*options.flops_per_second > 0, "--flops: expected more than 0");
  }
  options.device_memory = read("device-memory", kByteUnits);
  return options;
}

RanksPlan plan_ranks(const RanksOptions& options, const PlanAt& plan_at, Device device,
                     const io::SymbolRules& rules, const io::SymbolNumbers& sizes) {
  World world(fake_engine(0, options.ranks()));
  const WorldGuard guard(&world);
  const DeviceMesh mesh(options.mesh);
  // Exported programs name their groups.
  for (const DeviceMesh::Dim& dim : options.mesh) {
    const absl::Span<const int64_t> members = mesh.group(dim.name)->ranks();
    new_group({members.begin(), members.end()}, dim.name);
  }
  TrafficRecorder recorder(mesh);
  RanksPlan result{plan_at(sizes, recorder), ""};
  const int64_t peak = plan::memory_on(result.plan, device).peak_bytes;
  std::vector<std::string> parts;
  for (const DeviceMesh::Dim& dim : options.mesh) parts.push_back(str_cat(dim.name, "=", dim.size));
  result.text =
      str_cat("planned for ", commas(options.ranks()), " ranks, ", absl::StrJoin(parts, ","),
              ", each with this program and inputs of these sizes\n\n",
              kinds_text(recorder.calls(), options, peak),
              times_text(recorder.calls(), options, result.plan));
  if (!options.device_memory) return result;
  TrafficRecorder unread(mesh);
  result.text +=
      str_cat("\na rank's peak of ", commas(peak), " bytes ",
              static_cast<double>(peak) <= *options.device_memory ? "fits" : "does not fit", " ",
              commas(static_cast<int64_t>(std::min(*options.device_memory, 9e18))), " bytes; ",
              batch_text(plan_at, *options.device_memory, device, unread, rules, sizes), "\n");
  return result;
}

}  // namespace sb::tools
