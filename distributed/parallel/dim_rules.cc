// Operators that need some dimensions as a whole, and treat the others independently.

#include <algorithm>

#include "switchboard/distributed/parallel/dim_labels.h"
#include "switchboard/distributed/parallel/op_rules.h"

namespace sb {
namespace {

std::vector<int> with_whole(std::vector<int> labels, const SizeList& whole) {
  for (const int64_t dim : whole) {
    const int64_t at = wrap_dim(dim, std::ssize(labels));
    if (at >= 0 && at < std::ssize(labels)) labels[static_cast<size_t>(at)] = Dims::kWhole;
  }
  return labels;
}

// The dimensions that the argument `dim`, or `dims`, names; nothing where it is no number.
std::optional<SizeList> dims_of(const OpCall& call) {
  for (const char* name : {"dim", "dims"})
    if (call.find(name)) return call.integers(name);
  return std::nullopt;
}

// Results are as large as the tensor: softmax, sums up to each element, sorting, mirroring.
std::vector<Strategy> along(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 1) return {};
  const SizeList& sizes = call.uses()[0].sizes;
  const std::vector<int> labels =
      with_whole(count_up(sizes.size()), dims_of(call).value_or(SizeList{-1}));
  Dims dims{{labels}, {}};
  for (const OpCall::Result& result : call.results()) {
    if (result.sizes.size() != sizes.size()) return {};
    dims.results.push_back(labels);
  }
  return strategies_of(call, dims, choice);
}

// The last dimensions of the tensor together; weights have these alone.
std::vector<Strategy> layer_norm(const OpCall& call, const Choice& choice) {
  const auto shape = call.integers("normalized_shape");
  if (!shape || call.uses().empty()) return {};
  const SizeList& sizes = call.uses()[0].sizes;
  std::vector<int> labels = count_up(sizes.size());
  std::fill_n(labels.rbegin(), shape->size(), Dims::kWhole);
  Dims dims{{labels}, {}};
  for (size_t u = 1; u < call.uses().size(); ++u)
    dims.uses.emplace_back(call.uses()[u].sizes.size(), Dims::kWhole);
  for (const OpCall::Result& result : call.results()) {
    if (result.sizes.size() != sizes.size()) return {};
    dims.results.push_back(labels);
  }
  return strategies_of(call, dims, choice);
}

// Over some dimensions, or all: they are gone, or of size 1.
std::vector<Strategy> reduction(const OpCall& call, const Choice& choice, bool sums) {
  if (call.uses().size() != 1) return {};
  const SizeList& sizes = call.uses()[0].sizes;
  std::vector<int> labels = count_up(sizes.size());
  std::vector<bool> reduced(sizes.size(), false);
  const std::optional<SizeList> given = dims_of(call);
  if (!given && !call.is_none("dim")) return {};
  if (!given || given->empty()) {
    reduced.assign(sizes.size(), true);
  } else {
    for (const int64_t dim : *given) {
      const int64_t at = wrap_dim(dim, std::ssize(sizes));
      if (at < 0 || at >= std::ssize(sizes)) return {};
      reduced[static_cast<size_t>(at)] = true;
    }
  }
  const bool keeps = call.boolean("keepdim").value_or(false);
  Dims dims;
  std::vector<int> result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (reduced[d] && sums)
      dims.summed.push_back(labels[d]);
    else if (reduced[d])
      labels[d] = Dims::kWhole;
    if (!reduced[d] || keeps) result.push_back(reduced[d] ? Dims::kWhole : labels[d]);
  }
  dims.uses = {labels};
  for (const OpCall::Result& one : call.results()) {
    if (one.sizes.size() != result.size()) return {};
    dims.results.push_back(result);
  }
  if (sums) dims.linear = {0};
  return strategies_of(call, dims, choice);
}
std::vector<Strategy> sum(const OpCall& call, const Choice& choice) {
  return reduction(call, choice, true);
}
std::vector<Strategy> reduce(const OpCall& call, const Choice& choice) {
  return reduction(call, choice, false);
}

// Elements of `self` at the places that `index` says, along one dimension.
std::vector<Strategy> gather(const OpCall& call, const Choice& choice) {
  const auto dim = call.integer("dim");
  if (!dim || call.uses().size() != 2 || call.results().size() != 1) return {};
  const SizeList &self = call.uses()[0].sizes, &index = call.uses()[1].sizes;
  if (self.size() != index.size()) return {};
  std::vector<int> labels = with_whole(count_up(self.size()), {*dim});
  for (size_t d = 0; d < self.size(); ++d)
    if (self[d] != index[d]) labels[d] = Dims::kWhole;
  return strategies_of(call, {{labels, labels}, {labels}}, choice);
}
std::vector<Strategy> index_select(const OpCall& call, const Choice& choice) {
  const auto dim = call.integer("dim");
  if (!dim || call.uses().size() != 2) return {};
  const std::vector<int> labels = with_whole(count_up(call.uses()[0].sizes.size()), {*dim});
  return strategies_of(call, {{labels, {Dims::kWhole}}, {labels}}, choice);
}

// From the last dimension on, so many elements before and behind.
std::vector<Strategy> pad(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 1) return {};
  const SizeList &from = call.uses()[0].sizes, &to = call.results()[0].sizes;
  const auto padding = call.integers("pad");
  if (!padding || from.size() != to.size()) return {};
  std::vector<int> labels = count_up(from.size());
  for (size_t i = 0; i < padding->size() && i / 2 < labels.size(); ++i)
    if ((*padding)[i] != 0) labels[labels.size() - 1 - i / 2] = Dims::kWhole;
  return strategies_of(call, {{labels}, {labels}}, choice);
}

}  // namespace

void add_dim_rules(OpRules* rules) {
  for (const char* name : {"_log_softmax", "_softmax", "cummax", "cummin", "cumprod", "cumsum",
                           "flip", "log_softmax", "logcumsumexp", "softmax", "sort", "topk"})
    rules->emplace(std::string("aten::") + name, OpRule{along});
  for (const char* name : {"layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm"})
    rules->emplace(std::string("aten::") + name, OpRule{layer_norm});
  for (const char* name : {"all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean",
                           "prod", "std", "std_mean", "var", "var_mean"})
    rules->emplace(std::string("aten::") + name, OpRule{reduce});
  rules->emplace("aten::sum", OpRule{sum});
  rules->emplace("aten::gather", OpRule{gather});
  rules->emplace("aten::index_select", OpRule{index_select});
  rules->emplace("aten::constant_pad_nd", OpRule{pad});
}

}  // namespace sb
