#include "switchboard/distributed/parallel/strategy.h"

#include <algorithm>
#include <optional>

namespace sb {
namespace {

bool contains(const std::vector<int>& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

std::optional<int64_t> dim_of(const std::vector<int>& labels, int label) {
  const auto found = std::ranges::find(labels, label);
  if (found == labels.end()) return std::nullopt;
  return found - labels.begin();
}

// All that have the label cut by it; nothing where the parts would not be equal.
std::optional<Strategy> cut(const OpCall& call, const Dims& dims, const Choice& choice, int label,
                            int64_t pieces) {
  Strategy strategy;
  std::optional<int64_t> size;
  bool sizes_differ = false, any = false;
  const auto place = [&](const std::vector<int>& labels,
                         const SizeList& sizes) -> std::optional<Placement> {
    const auto dim = dim_of(labels, label);
    if (!dim) return Placement::replicate();
    any = true;
    const Placement placement = Placement::shard(*dim, pieces);
    if (!divides(placement, sizes, choice.ranks)) return std::nullopt;
    const int64_t here = sizes[static_cast<size_t>(*dim)];
    sizes_differ |= size.value_or(here) != here;
    size = here;
    return placement;
  };
  for (size_t u = 0; u < call.uses().size(); ++u) {
    const auto placement = place(dims.uses[u], call.uses()[u].sizes);
    if (!placement) return std::nullopt;
    strategy.uses.push_back(*placement);
  }
  const bool sums = contains(dims.summed, label);
  for (size_t r = 0; r < call.results().size(); ++r) {
    const auto placement = place(dims.results[r], call.results()[r].sizes);
    if (!placement) return std::nullopt;
    // A result that does not have the label would be another on each rank.
    if (!sums && placement->is_replicate()) return std::nullopt;
    strategy.results.push_back(sums ? Placement::partial() : *placement);
  }
  if (sums)
    for (const size_t u : dims.added) strategy.uses[u] = Placement::partial();
  // Groups of heads, say, of which one dimension has fewer: pieces would not meet.
  if (!any || (sizes_differ && pieces != 1)) return std::nullopt;
  return strategy;
}

void edit_sizes(const OpCall& call, const Dims& dims, const Choice& choice, Strategy* strategy) {
  if (dims.size_argument.empty()) return;
  strategy->edits.emplace_back(
      dims.size_argument, local_sizes(strategy->results[0], call.results()[0].sizes, choice.ranks));
}

}  // namespace

Strategy Strategy::replicate(const OpCall& call) {
  return {std::vector<Placement>(call.uses().size()),
          std::vector<Placement>(call.results().size())};
}

std::vector<Strategy> strategies_of(const OpCall& call, const Dims& dims, const Choice& choice) {
  std::vector<Strategy> strategies;
  std::vector<std::pair<int, int64_t>> tried;
  const auto try_cut = [&](int label, int64_t pieces) {
    if (label == Dims::kWhole || std::ranges::find(tried, std::pair(label, pieces)) != tried.end())
      return;
    tried.emplace_back(label, pieces);
    if (auto strategy = cut(call, dims, choice, label, pieces)) {
      edit_sizes(call, dims, choice, &*strategy);
      strategies.push_back(std::move(*strategy));
    }
  };
  bool all_partial = !dims.linear.empty(), any_partial = false;
  for (size_t u = 0; u < call.uses().size(); ++u) {
    bool partial = false;
    for (const Placement& placement : choice.placements(u)) {
      if (placement.is_shard())
        try_cut(dims.uses[u][static_cast<size_t>(placement.dim)], placement.pieces);
      partial |= placement.is_partial();
    }
    any_partial |= partial;
    if (std::ranges::find(dims.linear, u) != dims.linear.end()) all_partial &= partial;
  }
  if (all_partial && any_partial) {
    Strategy strategy = Strategy::replicate(call);
    for (const size_t u : dims.linear) strategy.uses[u] = Placement::partial();
    for (Placement& result : strategy.results) result = Placement::partial();
    edit_sizes(call, dims, choice, &strategy);
    strategies.push_back(std::move(strategy));
  }
  for (const int label : dims.starts)
    for (size_t u = 0; u < call.uses().size(); ++u)
      if (choice.is_weight(u) && contains(dims.uses[u], label)) try_cut(label, choice.pieces);
  return strategies;
}

}  // namespace sb
