// Matrix products and what is made of them. Where a weight is cut by its results' dimension, each
// rank has some columns of the result; where by the dimension that is added over, each has a
// summand. A block of two products takes one after the other.

#include <algorithm>

#include "switchboard/distributed/parallel/dim_labels.h"
#include "switchboard/distributed/parallel/op_rules.h"

namespace sb {
namespace {

// Labels of the two matrices of a product, and from kBatch on those of what is before them.
constexpr int kRow = 0, kColumn = 1, kInner = 2, kBatch = 3;

// The leading dimensions of a tensor that is broadcast with `batch`, then `last`.
std::vector<int> batched(const SizeList& sizes, const SizeList& batch, std::vector<int> last) {
  const SizeList leading(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(last.size()));
  std::vector<int> labels = broadcast_labels(leading, batch, count_up(batch.size(), kBatch));
  labels.insert(labels.end(), last.begin(), last.end());
  return labels;
}

Dims product(std::vector<std::vector<int>> uses, std::vector<int> result) {
  Dims dims;
  dims.uses = std::move(uses);
  dims.results = {std::move(result)};
  dims.starts = {kColumn, kRow, kInner};
  dims.summed = {kInner};
  return dims;
}

// "self", which is added to the product of the other two, is broadcast.
std::vector<Strategy> mm(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 2) return {};
  return strategies_of(call, product({{kRow, kInner}, {kInner, kColumn}}, {kRow, kColumn}), choice);
}
std::vector<Strategy> addmm(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 3) return {};
  const std::vector<int> result = {kRow, kColumn};
  Dims dims = product({broadcast_labels(call.uses()[0].sizes, call.results()[0].sizes, result),
                       {kRow, kInner},
                       {kInner, kColumn}},
                      result);
  dims.added = {0};
  return strategies_of(call, dims, choice);
}
std::vector<Strategy> bmm(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 2) return {};
  return strategies_of(
      call, product({{kBatch, kRow, kInner}, {kBatch, kInner, kColumn}}, {kBatch, kRow, kColumn}),
      choice);
}
std::vector<Strategy> baddbmm(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 3) return {};
  const std::vector<int> result = {kBatch, kRow, kColumn};
  Dims dims = product({broadcast_labels(call.uses()[0].sizes, call.results()[0].sizes, result),
                       {kBatch, kRow, kInner},
                       {kBatch, kInner, kColumn}},
                      result);
  dims.added = {0};
  return strategies_of(call, dims, choice);
}
std::vector<Strategy> matmul(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 2) return {};
  const SizeList &a = call.uses()[0].sizes, &b = call.uses()[1].sizes;
  if (a.size() < 2 || b.size() < 2) return {};
  const SizeList& result = call.results()[0].sizes;
  const SizeList batch(result.begin(), result.end() - 2);
  return strategies_of(
      call,
      product({batched(a, batch, {kRow, kInner}), batched(b, batch, {kInner, kColumn})},
              batched(result, batch, {kRow, kColumn})),
      choice);
}
std::vector<Strategy> linear(const OpCall& call, const Choice& choice) {
  const auto input = call.use("input"), weight = call.use("weight"), bias = call.use("bias");
  if (!input || !weight || call.uses().size() != (bias ? 3u : 2u)) return {};
  if (call.uses()[*weight].sizes.size() != 2 || call.uses()[*input].sizes.empty()) return {};
  const SizeList& sizes = call.uses()[*input].sizes;
  const SizeList rows(sizes.begin(), sizes.end() - 1);
  Dims dims = product({batched(sizes, rows, {kInner}), {kColumn, kInner}},
                      batched(call.results()[0].sizes, rows, {kColumn}));
  if (bias) {
    dims.uses.push_back({kColumn});
    dims.added = {*bias};
  }
  return strategies_of(call, dims, choice);
}

// Where each channel has a group of its own, they are independent.
std::vector<Strategy> convolution_of_channels(const OpCall& call, const Choice& choice) {
  Dims dims;
  for (const OpCall::Use& use : call.uses()) {
    dims.uses.emplace_back(use.sizes.size(), Dims::kWhole);
    dims.uses.back()[use.argument == "input" ? 1 : 0] = kColumn;
  }
  dims.results = {dims.uses[0]};
  std::vector<Strategy> strategies = strategies_of(call, dims, choice);
  for (Strategy& strategy : strategies)
    strategy.edits = {{"groups", call.results()[0].sizes[1] / choice.ranks}};
  return strategies;
}

// Channels are what columns and the inner dimension are; of several groups nothing is known.
std::vector<Strategy> convolution(const OpCall& call, const Choice& choice) {
  const auto input = call.use("input"), weight = call.use("weight"), bias = call.use("bias");
  if (!input || !weight || call.uses().size() != (bias ? 3u : 2u)) return {};
  if (call.boolean("transposed").value_or(false)) return {};
  const SizeList &sizes = call.uses()[*input].sizes, &of_weight = call.uses()[*weight].sizes;
  const size_t dims_of_input = sizes.size();
  if (dims_of_input != of_weight.size()) return {};  // no batch
  if (const int64_t groups = call.integer("groups").value_or(1); groups != 1)
    return groups == sizes[1] && groups == of_weight[0] ? convolution_of_channels(call, choice)
                                                        : std::vector<Strategy>();
  // Padding may be a word; what lies beside each other stays whole.
  std::vector<int> whole(dims_of_input - 2, Dims::kWhole);
  const auto with = [&](int first, int second) {
    std::vector<int> labels = {first, second};
    labels.insert(labels.end(), whole.begin(), whole.end());
    return labels;
  };
  Dims dims = product({with(kRow, kInner), with(kColumn, kInner)}, with(kRow, kColumn));
  if (bias) {
    dims.uses.push_back({kColumn});
    dims.added = {*bias};
  }
  return strategies_of(call, dims, choice);
}

// By heads, and whatever else is before the positions.
std::vector<Strategy> attention(const OpCall& call, const Choice& choice) {
  const auto query = call.use("query"), key = call.use("key"), value = call.use("value"),
             mask = call.use("attn_mask");
  if (!query || !key || !value || call.uses().size() != (mask ? 4u : 3u)) return {};
  if (call.number("dropout_p").value_or(0) != 0 || call.results().size() != 1) return {};
  const SizeList& sizes = call.uses()[*query].sizes;
  if (sizes.size() < 3 || call.uses()[*key].sizes.size() != sizes.size() ||
      call.uses()[*value].sizes.size() != sizes.size())
    return {};
  std::vector<int> labels = count_up(sizes.size());
  labels[sizes.size() - 2] = labels[sizes.size() - 1] = Dims::kWhole;
  Dims dims;
  for (const size_t use : {*query, *key, *value}) {
    std::vector<int> here = labels;
    for (size_t d = 0; d + 2 < sizes.size(); ++d) {
      // Fewer heads of keys, each for as many heads of queries.
      const bool grouped = d + 3 == sizes.size() && call.boolean("enable_gqa").value_or(false);
      if (call.uses()[use].sizes[d] != sizes[d] && !grouped) here[d] = Dims::kWhole;
    }
    dims.uses.push_back(std::move(here));
  }
  if (mask) dims.uses.push_back(broadcast_labels(call.uses()[*mask].sizes, sizes, labels));
  dims.results = {labels};
  return strategies_of(call, dims, choice);
}

// Each rank has some rows of the table, and gives zeros for the others, so that all together give
// the sum; or it has some columns.
std::vector<Strategy> embedding(const OpCall& call, const Choice& choice) {
  if (call.uses().size() != 2) return {};
  const SizeList& indices = call.uses()[1].sizes;
  const int columns = static_cast<int>(indices.size());
  Dims dims;
  dims.uses = {{Dims::kWhole, columns}, count_up(indices.size())};
  dims.results = {count_up(indices.size() + 1)};
  dims.starts = {columns};
  std::vector<Strategy> strategies = strategies_of(call, dims, choice);
  const Placement rows = Placement::shard(0);
  if (choice.is_weight(0) && divides(rows, call.uses()[0].sizes, choice.ranks)) {
    Strategy strategy{{rows, Placement::replicate()}, {Placement::partial()}};
    strategy.rows_of_others_are_zero = true;
    strategies.insert(strategies.begin(), std::move(strategy));
  }
  return strategies;
}

}  // namespace

void add_product_rules(OpRules* rules) {
  rules->emplace("aten::mm", OpRule{mm});
  rules->emplace("aten::addmm", OpRule{addmm});
  rules->emplace("aten::bmm", OpRule{bmm});
  rules->emplace("aten::baddbmm", OpRule{baddbmm});
  rules->emplace("aten::matmul", OpRule{matmul});
  rules->emplace("aten::linear", OpRule{linear});
  for (const char* name : {"aten::convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d"})
    rules->emplace(name, OpRule{convolution});
  rules->emplace("aten::scaled_dot_product_attention", OpRule{attention});
  rules->emplace("aten::embedding", OpRule{embedding});
}

}  // namespace sb
