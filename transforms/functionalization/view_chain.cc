#include "switchboard/transforms/functionalization/view_chain.h"

#include <algorithm>
#include <numeric>

#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/view_inverse.h"

namespace sb {
namespace {

ViewStep as_strided_step(IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  return ViewStep{as_strided.handle(),
                  {IValue(), std::vector<int64_t>(sizes.begin(), sizes.end()),
                   std::vector<int64_t>(strides.begin(), strides.end()), offset}};
}

}  // namespace

bool may_overlap(const Tensor& t) {
  DimVector order;
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (t.sizes()[d] == 0) return false;
    if (t.sizes()[d] > 1) order.push_back(static_cast<int64_t>(d));
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return t.stride(a) < t.stride(b); });
  int64_t reach = 0;  // the furthest place so far
  for (int64_t d : order) {
    if (t.stride(d) <= reach) return true;
    reach += t.stride(d) * (t.size(d) - 1);
  }
  return false;
}

std::vector<Tensor> flatten_tensors(absl::Span<const IValue> values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values)
    value.for_each_tensor([&](const Tensor& t) { tensors.push_back(t); });
  return tensors;
}

Tensor ViewStep::apply(const Tensor& base) const {
  Stack stack = arguments;
  stack[viewed] = base;
  op.call_boxed(&stack);
  const std::vector<Tensor> results = flatten_tensors(stack);
  SB_CHECK(output < results.size(), op.name().to_string(), ": replayed on ", base.describe(),
           " it gave ", results.size(), " tensors, expected more than ", output);
  return results[output];
}

Tensor ViewStep::invert(const Tensor& base, const Tensor& view) const {
  return internal::invert_view(*this, base, view);
}

Tensor write_by_layout(const Tensor& base, const Tensor& old, const Tensor& view) {
  // Only what writes one number everywhere may write to a dimension that repeats its elements.
  Tensor once = view;
  DimVector sizes(old.sizes().begin(), old.sizes().end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (old.strides()[d] != 0 || sizes[d] <= 1) continue;
    once = slice(once, static_cast<int64_t>(d), 0, 1, 1);
    sizes[d] = 1;
  }
  const ViewChain chain =
      chain_to(base, {old.dtype(), sizes, old.strides(), old.storage_offset(), old.key_set()});
  std::vector<Tensor> bases = {base};
  for (const ViewStep& step : chain) bases.push_back(step.apply(bases.back()));
  for (size_t i = chain.size(); i-- > 0;) once = chain[i].invert(bases[i], once);
  return once;
}

Tensor apply_chain(const ViewChain& chain, const Tensor& base) {
  Tensor value = base;
  for (const ViewStep& step : chain) value = step.apply(value);
  return value;
}

Tensor invert_chain(const ViewChain& chain, const Tensor& base, const Tensor& view) {
  if (!chain.empty() && view.numel() == 0) return base;
  std::vector<Tensor> bases = {base};  // of each step, and the view
  for (const ViewStep& step : chain) bases.push_back(step.apply(bases.back()));
  if (std::any_of(bases.begin(), bases.end(), may_overlap)) {
    return write_by_layout(base, bases.back(), view);
  }
  Tensor value = view;
  for (size_t i = chain.size(); i-- > 0;) value = chain[i].invert(bases[i], value);
  return value;
}

ViewChain chain_to(const Tensor& base, const ViewForm& view) {
  ViewChain chain;
  if (view.dtype != base.dtype()) {
    // As many elements as make whole elements of the other dtype.
    const size_t whole = base.nbytes() / itemsize(view.dtype) * itemsize(view.dtype);
    chain.push_back(as_strided_step({static_cast<int64_t>(whole / base.itemsize())}, {1}, 0));
    chain.push_back({view_dtype.handle(), {IValue(), IValue(view.dtype)}});
  }
  chain.push_back(as_strided_step(view.sizes, view.strides, view.offset));
  for (ViewStep& step : chain_to_bits(view.keys)) chain.push_back(std::move(step));
  return chain;
}

ViewChain chain_to_bits(DispatchKeySet keys) {
  ViewChain chain;
  if (keys.has(DispatchKey::Conjugate)) chain.push_back({_conj.handle(), {IValue()}});
  if (keys.has(DispatchKey::Negative)) chain.push_back({_neg_view.handle(), {IValue()}});
  return chain;
}

Tensor without_bits(const Tensor& tensor) {
  return apply_chain(chain_to_bits(tensor.key_set()), tensor);
}

bool is_whole_storage(const Tensor& tensor) {
  return tensor.impl()->is_non_overlapping_and_dense() && tensor.storage_offset() == 0 &&
         tensor.storage() && tensor.storage()->nbytes() == tensor.nbytes();
}

Tensor flat_storage(const Tensor& tensor) {
  const size_t bytes = tensor.storage()->nbytes();
  const int64_t numel = static_cast<int64_t>(bytes / tensor.itemsize());
  const Tensor flat = as_strided(without_bits(tensor), {numel}, {1}, 0);
  if (flat.nbytes() == bytes) return flat;
  return as_strided(view_dtype(flat, DType::UInt8), {static_cast<int64_t>(bytes)}, {1}, 0);
}

Tensor with_strides(const Tensor& value, IntArrayRef strides) {
  if (value.strides() == strides && is_whole_storage(value)) return value;
  const size_t rank = strides.size();
  DimVector order(rank), inverse(rank);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < rank; ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Tensor result;
  if (std::is_sorted(order.begin(), order.end())) {
    result = clone(value, MemoryFormat::Contiguous);
  } else {
    result = permute(clone(permute(value, order), MemoryFormat::Contiguous), inverse);
  }
  // Dimensions of size 1, and tensors of no element, may have any strides.
  if (result.strides() != strides) result = as_strided(result, result.sizes(), strides, 0);
  return result;
}

}  // namespace sb
