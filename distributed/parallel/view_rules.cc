// Operators that move, split or join dimensions. What they give of a part is a part.

#include <algorithm>
#include <optional>

#include "switchboard/distributed/parallel/dim_labels.h"
#include "switchboard/distributed/parallel/op_rules.h"

namespace sb {
namespace {

// Of one tensor and one result, whose dimensions come of these: kWhole for none.
std::vector<Strategy> moved(const OpCall& call, const Choice& choice, std::vector<int> result) {
  if (call.uses().size() != 1 || call.results().size() != 1 ||
      result.size() != call.results()[0].sizes.size())
    return {};
  Dims dims{{count_up(call.uses()[0].sizes.size())}, {std::move(result)}};
  dims.linear = {0};
  return strategies_of(call, dims, choice);
}

std::vector<Strategy> permute(const OpCall& call, const Choice& choice) {
  const auto order = call.integers("dims");
  if (!order) return {};
  std::vector<int> result;
  for (const int64_t dim : *order)
    result.push_back(static_cast<int>(wrap_dim(dim, std::ssize(*order))));
  return moved(call, choice, std::move(result));
}
std::vector<Strategy> transpose(const OpCall& call, const Choice& choice) {
  if (call.uses().empty()) return {};
  const int64_t count = std::ssize(call.uses()[0].sizes);
  std::vector<int> result = count_up(static_cast<size_t>(count));
  const bool is_t = call.node().op == "aten::t";
  const int64_t a = wrap_dim(is_t ? 0 : call.integer("dim0").value_or(count), count);
  const int64_t b = wrap_dim(is_t ? count - 1 : call.integer("dim1").value_or(count), count);
  if (a < 0 || b < 0 || a >= count || b >= count) return {};
  std::swap(result[static_cast<size_t>(a)], result[static_cast<size_t>(b)]);
  return moved(call, choice, std::move(result));
}

// Dimensions of size 1 come and go.
std::vector<Strategy> unsqueeze(const OpCall& call, const Choice& choice) {
  if (call.uses().empty()) return {};
  const auto dim = call.integer("dim");
  if (!dim) return {};
  std::vector<int> result = count_up(call.uses()[0].sizes.size());
  result.insert(result.begin() + wrap_dim(*dim, std::ssize(result) + 1), Dims::kWhole);
  return moved(call, choice, std::move(result));
}
std::vector<Strategy> squeeze(const OpCall& call, const Choice& choice) {
  if (call.uses().empty()) return {};
  const SizeList& sizes = call.uses()[0].sizes;
  std::vector<bool> gone(sizes.size(), call.is_none("dim"));
  for (const int64_t dim : call.integers("dim").value_or(SizeList{})) {
    const int64_t at = wrap_dim(dim, std::ssize(sizes));
    if (at >= 0 && at < std::ssize(sizes)) gone[static_cast<size_t>(at)] = true;
  }
  std::vector<int> result;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!gone[d] || sizes[d] != 1) result.push_back(static_cast<int>(d));
  std::vector<Strategy> strategies = moved(call, choice, std::move(result));
  // A part of size 1 must not go.
  std::erase_if(strategies, [&](const Strategy& s) {
    return s.uses[0].is_shard() && gone[static_cast<size_t>(s.uses[0].dim)];
  });
  return strategies;
}

std::vector<Strategy> expand(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 1 || call.results().size() != 1) return {};
  const SizeList& to = call.results()[0].sizes;
  const std::vector<int> labels = count_up(to.size());
  Dims dims{{broadcast_labels(call.uses()[0].sizes, to, labels)}, {labels}};
  dims.linear = {0};
  dims.size_argument = "size";
  return strategies_of(call, dims, choice);
}

// Where a dimension that is cut goes when the sizes become others. Elements keep their order, and
// a cut is known by how many pieces lie one behind the other from the first dimension on.
std::optional<Placement> reshaped(const Placement& placement, const SizeList& from,
                                  const SizeList& to, int64_t ranks) {
  int64_t before = placement.pieces, after = 1;
  for (int64_t d = 0; d < placement.dim; ++d) before *= from[static_cast<size_t>(d)];
  for (size_t d = static_cast<size_t>(placement.dim) + 1; d < from.size(); ++d) after *= from[d];
  // So many elements in order are of one rank.
  const int64_t run = from[static_cast<size_t>(placement.dim)] / (placement.pieces * ranks) * after;
  int64_t outer = 1, inner = 1;
  for (const int64_t size : to) inner *= size;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0) return std::nullopt;
    inner /= to[d];
    if (before % outer == 0) {
      const Placement there = Placement::shard(static_cast<int64_t>(d), before / outer);
      if (divides(there, to, ranks) && to[d] / (there.pieces * ranks) * inner == run) return there;
    }
    outer *= to[d];
  }
  return std::nullopt;
}

std::vector<Strategy> reshape(const OpCall& call, const Choice& choice) {
  if (call.node().overload == "dtype") return {};
  if (call.uses().size() != 1 || call.results().size() != 1) return {};
  const SizeList &from = call.uses()[0].sizes, &to = call.results()[0].sizes;
  std::vector<Strategy> strategies;
  for (const Placement& placement : choice.placements(0)) {
    Placement there = placement;
    if (placement.is_shard()) {
      const auto found = reshaped(placement, from, to, choice.ranks);
      if (!found) continue;
      there = *found;
    }
    strategies.push_back({{placement}, {there}});
  }
  return strategies;
}

// One element of a dimension, which is gone.
std::vector<Strategy> select(const OpCall& call, const Choice& choice) {
  const auto dim = call.integer("dim");
  if (!dim || call.uses().empty()) return {};
  std::vector<int> result = count_up(call.uses()[0].sizes.size());
  result.erase(result.begin() + wrap_dim(*dim, std::ssize(result)));
  return moved(call, choice, std::move(result));
}
// A part of a dimension, or all of it.
std::vector<Strategy> slice(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 1 || call.results().size() != 1) return {};
  const SizeList &from = call.uses()[0].sizes, &to = call.results()[0].sizes;
  if (from.size() != to.size()) return {};
  const int64_t dim = wrap_dim(call.integer("dim").value_or(0), std::ssize(from));
  std::vector<int> labels = count_up(from.size());
  const bool all = from[static_cast<size_t>(dim)] == to[static_cast<size_t>(dim)];
  if (!all) labels[static_cast<size_t>(dim)] = Dims::kWhole;
  Dims dims{{labels}, {labels}};
  dims.linear = {0};
  std::vector<Strategy> strategies = strategies_of(call, dims, choice);
  for (Strategy& strategy : strategies)
    if (all && call.find("end")) strategy.edits = {{"start", io::None{}}, {"end", io::None{}}};
  return strategies;
}
// `src` is written to a part of a dimension of `self`.
std::vector<Strategy> slice_scatter(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 2) return {};
  const SizeList& sizes = call.uses()[0].sizes;
  const int64_t dim = wrap_dim(call.integer("dim").value_or(0), std::ssize(sizes));
  std::vector<int> labels = count_up(sizes.size());
  labels[static_cast<size_t>(dim)] = Dims::kWhole;
  return strategies_of(call, {{labels, labels}, {labels}}, choice);
}

// Whether every result is an equal part of the dimension.
bool is_even(const OpCall& call, size_t dim) {
  const auto parts = std::ssize(call.results());
  return std::ranges::all_of(call.results(), [&](const OpCall::Result& result) {
    return result.sizes[dim] * parts == call.uses()[0].sizes[dim];
  });
}

// Into several tensors along a dimension. Where each of them is some of the pieces that the
// dimension is cut into, each rank has a part of each.
std::vector<Strategy> split(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 1 || call.results().empty()) return {};
  const SizeList& sizes = call.uses()[0].sizes;
  const int64_t dim = wrap_dim(call.integer("dim").value_or(0), std::ssize(sizes));
  std::vector<int> labels = count_up(sizes.size());
  labels[static_cast<size_t>(dim)] = Dims::kWhole;
  Dims dims{{labels}, std::vector<std::vector<int>>(call.results().size(), labels)};
  dims.linear = {0};
  std::vector<Strategy> strategies = strategies_of(call, dims, choice);
  const int64_t parts = std::ssize(call.results());
  if (!is_even(call, static_cast<size_t>(dim))) return strategies;
  const int64_t size = sizes[static_cast<size_t>(dim)] / parts / choice.ranks;
  for (const Placement& placement : choice.placements(0)) {
    if (!placement.is_shard() || placement.dim != dim || placement.pieces % parts != 0) continue;
    Strategy strategy{{placement},
                      std::vector<Placement>(call.results().size(),
                                             Placement::shard(dim, placement.pieces / parts))};
    if (call.find("split_sizes"))
      strategy.edits = {{"split_sizes", SizeList(static_cast<size_t>(parts), size)}};
    else if (call.integer("split_size"))
      strategy.edits = {{"split_size", size}};
    else if (!call.find("chunks"))
      continue;
    strategies.push_back(std::move(strategy));
  }
  return strategies;
}
std::vector<Strategy> unbind(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 1) return {};
  std::vector<int> use = count_up(call.uses()[0].sizes.size());
  const int64_t dim = wrap_dim(call.integer("dim").value_or(0), std::ssize(use));
  std::vector<int> result = use;
  use[static_cast<size_t>(dim)] = Dims::kWhole;
  result.erase(result.begin() + dim);
  Dims dims{{use}, std::vector<std::vector<int>>(call.results().size(), result)};
  dims.linear = {0};
  return strategies_of(call, dims, choice);
}

// Tensors one behind the other along a dimension, or along a new one.
std::vector<Strategy> cat(const OpCall& call, const Choice& choice) {
  if (call.results().size() != 1) return {};
  const SizeList& to = call.results()[0].sizes;
  const int64_t dim = wrap_dim(call.integer("dim").value_or(0), std::ssize(to));
  std::vector<int> labels = count_up(to.size());
  labels[static_cast<size_t>(dim)] = Dims::kWhole;
  std::vector<int> use = labels;
  if (call.node().op == "aten::stack") use.erase(use.begin() + dim);
  Dims dims{{}, {labels}};
  for (const OpCall::Use& one : call.uses()) {
    if (one.sizes.size() != use.size()) return {};  // an empty vector, which cat passes over
    dims.uses.push_back(use);
  }
  for (size_t u = 0; u < call.uses().size(); ++u) dims.linear.push_back(u);
  return strategies_of(call, dims, choice);
}

constexpr std::string_view kReshapes[] = {"aten::_unsafe_view", "aten::flatten", "aten::reshape",
                                          "aten::unflatten", "aten::view"};

}  // namespace

bool is_reshape(std::string_view op) {
  return std::ranges::find(kReshapes, op) != std::end(kReshapes);
}

void add_view_rules(OpRules* rules) {
  rules->emplace("aten::permute", OpRule{permute, true});
  rules->emplace("aten::t", OpRule{transpose, true});
  rules->emplace("aten::transpose", OpRule{transpose, true});
  rules->emplace("aten::unsqueeze", OpRule{unsqueeze, true});
  rules->emplace("aten::squeeze", OpRule{squeeze, true});
  rules->emplace("aten::expand", OpRule{expand, true});
  for (const std::string_view name : kReshapes) rules->emplace(name, OpRule{reshape, true});
  rules->emplace("aten::select", OpRule{select, true});
  rules->emplace("aten::slice", OpRule{slice, true});
  rules->emplace("aten::slice_scatter", OpRule{slice_scatter});
  for (const char* name : {"chunk", "split", "split_with_sizes"})
    rules->emplace(std::string("aten::") + name, OpRule{split});
  rules->emplace("aten::unbind", OpRule{unbind});
  rules->emplace("aten::cat", OpRule{cat});
  rules->emplace("aten::stack", OpRule{cat});
}

}  // namespace sb
