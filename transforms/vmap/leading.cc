// Operators that have a batch of their own in front: of any number of dimensions, as triangles and
// factorisations of matrices, or of one, as convolutions and pooling. The examples join it.

#include <algorithm>
#include <string_view>

#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/rules.h"
#include "switchboard/transforms/vmap/shapes.h"

namespace sb::batching {
namespace {

bool starts_with_any(const std::string& name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return name.starts_with(p); });
}

// Whether what the operator gives for an element of its own batch depends on that alone.
bool has_own_batch(const BatchedCall& call) {
  const std::string& name = call.op().name().name;
  size_t tensors = 0;
  call.for_each_tensor([&](const Tensor&) { ++tensors; });
  // Of several matrices, which dimensions are a batch depends on all of them.
  if (starts_with_any(name, {"aten::linalg_", "aten::_linalg_", "aten::tril", "aten::triu"}))
    return tensors == 1;
  return starts_with_any(
      name,
      {"aten::convolution", "aten::_convolution", "aten::avg_pool", "aten::max_pool",
       "aten::_adaptive_avg_pool", "aten::adaptive_max_pool", "aten::upsample_", "aten::_upsample_",
       "aten::reflection_pad", "aten::replication_pad", "aten::constant_pad_nd",
       "aten::grid_sampler", "aten::im2col", "aten::col2im", "aten::native_layer_norm"});
}

// Of an embedding, the batch is in front of the indices; it has one table for all.
bool is_embedding(const BatchedCall& call) {
  return call.op().name().name == "aten::embedding" &&
         !call.is_batched(call.argument(0).to_tensor());
}

// The first two dimensions as one; and the other way round.
Tensor joined(const Tensor& t) { return flatten(t, 0, 1); }
Tensor parted(const Tensor& t, int64_t own) { return unflatten(t, 0, {-1, own}); }

std::vector<IValue> with_tensors(const BatchedCall& call,
                                 absl::FunctionRef<Tensor(const Tensor&)> batched) {
  std::vector<IValue> arguments;
  for (const IValue& argument : call.arguments()) {
    arguments.push_back(map_tensors(
        argument, [&](const Tensor& t) { return call.is_batched(t) ? batched(t) : t; }));
  }
  return arguments;
}

}  // namespace

std::optional<std::vector<IValue>> leading_rule(const BatchedCall& call) {
  if (call.op().schema().is_mutable() || !(has_own_batch(call) || is_embedding(call)))
    return std::nullopt;
  const auto example = try_on_meta(call.op(), meta_arguments(call.arguments()));
  if (!example) return std::nullopt;
  // A batch of its own of any number of dimensions, or one that the example does not have.
  const auto in_front = try_on_meta(
      call.op(), meta_arguments(with_tensors(
                     call, [](const Tensor& t) { return meta_batch(t, kUnlikelySize); })));
  if (in_front && has_batch_in_front(*in_front, *example, kUnlikelySize)) {
    return call.batched_results(
        call.call_below(with_tensors(call, [&](const Tensor& t) { return *call.value_of(t); })));
  }
  // One of one dimension, which all batched tensors have.
  std::optional<int64_t> own;
  bool agree = true;
  call.for_each_tensor([&](const Tensor& t) {
    if (!call.is_batched(t)) return;
    agree &= t.dim() > 0 && own.value_or(t.size(0)) == t.size(0);
    if (t.dim() > 0) own = t.size(0);
  });
  if (!agree || !own || *own == 0) return std::nullopt;
  const auto as_one =
      try_on_meta(call.op(), meta_arguments(with_tensors(call, [&](const Tensor& t) {
                    std::vector<SymInt> sizes(t.sym_sizes().begin(), t.sym_sizes().end());
                    sizes[0] = *own * kUnlikelySize;
                    return meta_of(std::move(sizes), t.dtype());
                  })));
  if (!as_one || !has_joined_batch(*as_one, *example, *own * kUnlikelySize)) return std::nullopt;
  const std::vector<IValue> values = call.call_below(
      with_tensors(call, [&](const Tensor& t) { return joined(*call.value_of(t)); }));
  std::vector<IValue> results;
  for (const IValue& value : values)
    results.push_back(map_tensors(value, [&](const Tensor& t) { return parted(t, *own); }));
  return call.batched_results(results);
}

}  // namespace sb::batching
