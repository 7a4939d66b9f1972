// Operators that compute each element from those in its place alone.

#include <algorithm>
#include <string_view>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/rules.h"

namespace sb::batching {
namespace {

// PyTorch's tag, and its operators that are pointwise without it.
bool is_pointwise(const OperatorHandle& op) {
  constexpr std::string_view kUntagged[] = {
      "aten::copy_", "aten::_to_copy", "aten::zero_", "aten::zero",         "aten::fill_",
      "aten::fill",  "aten::copy",     "aten::clone", "aten::masked_fill_", "aten::masked_fill",
  };
  const std::string& name = op.name().name;
  // Those that make a tensor like another one.
  if (name.starts_with("aten::") && name.ends_with("_like")) return true;
  return op.entry().has_tag(Tag::pointwise) ||
         std::ranges::count(kUntagged, std::string_view(name)) > 0;
}

bool asks_for_strides(const IValue& value) {
  return value.is_MemoryFormat() && value.to_memory_format() != MemoryFormat::Preserve &&
         value.to_memory_format() != MemoryFormat::Contiguous;
}

// With as many dimensions behind the batch as `rank`.
Tensor with_rank(Tensor value, int64_t rank) {
  while (value.dim() <= rank) value = unsqueeze(value, 1);
  return value;
}

// The arguments that must be tensors of one element: "value" of fill and masked_fill.
bool is_one_element(const Argument& argument) {
  return argument.name == "value" && argument.type.has_tensor();
}

}  // namespace

std::optional<std::vector<IValue>> pointwise_rule(const BatchedCall& call) {
  const OperatorEntry& entry = call.op().entry();
  // An out= form may give its out other sizes.
  if (!is_pointwise(call.op()) || entry.has_tag(Tag::out)) return std::nullopt;
  const std::vector<Argument>& schema = call.op().schema().arguments;
  int64_t rank = 0;
  bool scalars = false, dtypes_differ = false, others = false;
  std::optional<DType> dtype;
  call.for_each_tensor([&](const Tensor& t) {
    rank = std::max(rank, t.dim());
    if (t.impl()->is_wrapped_number()) return;
    // Behind a batch, a tensor without dimensions counts like any other in what dtype comes out.
    scalars |= t.dim() == 0 && call.is_batched(t);
    dtypes_differ |= dtype && *dtype != t.dtype();
    dtype = t.dtype();
  });
  std::vector<IValue> arguments;
  for (size_t i = 0; i < schema.size(); ++i) {
    const IValue& argument = call.argument(i);
    // What is written to keeps its shape, which must be that of all.
    const bool keeps_shape =
        schema[i].is_write() || (i == 0 && call.op().name().name == "aten::copy");
    if (keeps_shape && argument.to_tensor().dim() < rank) return std::nullopt;
    if (asks_for_strides(argument)) return std::nullopt;
    others |=
        argument.is_Tensor() && is_one_element(schema[i]) && call.is_batched(argument.to_tensor());
    arguments.push_back(map_tensors(argument, [&](const Tensor& t) {
      const std::optional<Tensor> value = call.value_of(t);
      return value ? with_rank(*value, rank) : t;
    }));
  }
  if ((scalars && dtypes_differ) || others) return std::nullopt;
  return call.batched_results(call.call_below(std::move(arguments)));
}

}  // namespace sb::batching
