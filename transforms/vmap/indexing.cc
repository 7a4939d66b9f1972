// Elements by tensors of indices, x[i, j]: the batch is one more dimension of x, of the indices, or
// of both.

#include <algorithm>

#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/rules.h"
#include "switchboard/transforms/vmap/shapes.h"

namespace sb::batching {
namespace {

using Indices = std::vector<std::optional<Tensor>>;

bool is_none(const std::optional<Tensor>& index) { return !index || !index->defined(); }
// Masks, of bools and bytes, are not.
bool is_none_or_integers(const std::optional<Tensor>& index) {
  return is_none(index) || index->dtype() == DType::Int64 || index->dtype() == DType::Int32;
}

// Whether the batch comes out in front. The dimensions of the indices stand where these do, or in
// front of all where the indices do not stand side by side.
bool is_batch_in_front(const BatchedCall& call, OptionalTensorList indices, bool self_batched) {
  std::vector<size_t> places;
  bool any = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (is_none(indices[i])) continue;
    places.push_back(i);
    any |= call.is_batched(*indices[i]);
  }
  if (places.empty()) return false;
  const bool side_by_side = places.back() - places.front() + 1 == places.size();
  return self_batched && !any ? side_by_side : places.front() == 0 || !side_by_side;
}

// Indices with one for the batch in front, where `self` has one, and behind their own batch as many
// dimensions as the largest has.
Indices with_batch(const BatchedCall& call, const Indices& given, bool self_batched) {
  int64_t rank = 0;
  bool any = false;
  for (const std::optional<Tensor>& index : given) {
    if (is_none(index)) continue;
    rank = std::max(rank, index->dim());
    any |= call.is_batched(*index);
  }
  Indices indices;
  if (self_batched && !any) indices.emplace_back();
  if (self_batched && any) {
    std::vector<SymInt> sizes(static_cast<size_t>(rank) + 1, 1);
    sizes[0] = call.level().size();
    indices.emplace_back(view(arange(call.level().size()), sizes));
  }
  for (const std::optional<Tensor>& index : given) {
    const std::optional<Tensor> value = is_none(index) ? std::nullopt : call.value_of(*index);
    if (!value) {
      indices.push_back(index);
      continue;
    }
    Tensor padded = *value;
    while (padded.dim() <= rank) padded = unsqueeze(padded, 1);
    indices.emplace_back(padded);
  }
  return indices;
}

}  // namespace

std::optional<std::vector<IValue>> index_rule(const BatchedCall& call) {
  if (call.op().name().to_string() != "aten::index.Tensor") return std::nullopt;
  const Tensor& self = call.argument(0).to_tensor();
  if (!call.argument(1).is_OptionalTensorList() || call.level().size() < 2) return std::nullopt;
  const OptionalTensorList list = call.argument(1).to_optional_tensor_list();
  if (!std::ranges::all_of(list, is_none_or_integers)) return std::nullopt;
  const auto example = try_on_meta(call.op(), meta_arguments(call.arguments()));
  if (!example) return std::nullopt;
  const std::optional<Tensor> value = call.value_of(self);
  if (!is_batch_in_front(call, list, value.has_value())) return std::nullopt;
  const Indices indices = with_batch(call, Indices(list.begin(), list.end()), value.has_value());
  const std::vector<IValue> arguments{value.value_or(self), indices};
  const auto results = try_on_meta(call.op(), meta_arguments(arguments));
  if (!results || !has_batch_in_front(*results, *example, call.level().size())) return std::nullopt;
  return call.batched_results(call.call_below(arguments));
}

}  // namespace sb::batching
