// Runs that must agree: on the same arguments, and on arguments with other strides.

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb::internal {
namespace {

// "argument 0 'x' has strides [1, 2]": the first tensor that is not a whole contiguous storage.
std::string first_odd_tensor(const std::vector<NamedTensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i].tensor;
    if (!t.is_contiguous())
      return str_cat(tensors[i].name, " has strides ", list_text(t.strides()));
    if (t.storage_offset() != 0)
      return str_cat(tensors[i].name, " has storage offset ", t.storage_offset());
    for (size_t k = 0; k < i; ++k)
      if (t.is_alias_of(tensors[k].tensor))
        return str_cat(tensors[i].name, " shares the storage of ", tensors[k].name);
  }
  return "";
}

bool share_memory(const std::vector<NamedTensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (tensors[i].tensor.is_alias_of(tensors[k].tensor)) return true;
  return false;
}

}  // namespace

Finding check_deterministic(const CheckedCall& call) {
  if (call.is_random(true)) return skipped("it is tagged as not deterministic");
  const Run first = call.run(), second = call.run();
  std::string text = differing_results(first, second, call.options, true);
  if (text.empty()) text = differing_arguments(first, second, call.options, true);
  if (text.empty()) return passed();
  return failed(call, "two runs with the same arguments differ: ", text, " in the second run");
}

Finding check_strides(const CheckedCall& call) {
  const std::string odd = first_odd_tensor(call.tensors());
  if (odd.empty()) return skipped("all tensors are contiguous");
  if (call.is_random(false)) return skipped("it is tagged as not deterministic");
  if (std::string reason = call.unordered_writes(); !reason.empty()) return skipped(reason);
  if (call.schema().name.name.find("as_strided") != std::string::npos)
    return skipped("it is about the storage, not about the elements of the tensor");
  if (call.writes() && share_memory(call.tensors()))
    return skipped("it writes to memory that its arguments share");
  Stack copies;
  for (const IValue& value : copy_arguments(call.arguments, false))
    copies.push_back(map_tensors(value, [](const Tensor& t) {
      // Of quantized dtypes clone knows the quantizer.
      if (is_quantized(t.dtype())) return clone(t, MemoryFormat::Contiguous);
      const Tensor copy = empty_on(t.device(), t.sizes(), t.dtype());
      copy_(copy, t);
      copy.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
      return copy;
    }));
  std::optional<Run> contiguous;
  try {
    contiguous = call.run_on(std::move(copies));
  } catch (const Error& error) {
    return skipped("the call on contiguous copies throws: ", error.what());
  }
  const Run run = call.run(false);
  std::string text = differing_results(*contiguous, run, call.options);
  if (text.empty()) text = differing_arguments(*contiguous, run, call.options);
  if (text.empty()) return passed();
  return failed(call, text, " as with contiguous arguments; ", odd);
}

}  // namespace sb::internal
