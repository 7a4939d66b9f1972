#include "switchboard/transforms/functionalization/view_chain.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "switchboard/core/dtype.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/view_inverse.h"

namespace sb {
namespace {

ViewStep as_strided_step(SymIntArrayRef sizes, SymIntArrayRef strides, const SymInt& offset) {
  return ViewStep{as_strided.handle(),
                  {IValue(), std::vector<SymInt>(sizes.begin(), sizes.end()),
                   std::vector<SymInt>(strides.begin(), strides.end()), offset}};
}

// The dimensions, the smallest stride first. With symbols that is one order of several.
template <class Keep>
absl::InlinedVector<size_t, SizesAndStrides::kInline> by_stride(const Tensor& t, Keep&& keep) {
  absl::InlinedVector<size_t, SizesAndStrides::kInline> order;
  for (size_t d = static_cast<size_t>(t.dim()); d-- > 0;)
    if (keep(d)) order.push_back(d);
  const IntArrayRef strides = t.impl()->hint_strides(), sizes = t.impl()->hint_sizes();
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::tuple(strides[a], sizes[a], b) < std::tuple(strides[b], sizes[b], a);
  });
  return order;
}

}  // namespace

bool are_same(SymIntArrayRef a, SymIntArrayRef b) {
  return std::ranges::equal(a, b, [](const SymInt& m, const SymInt& n) { return known(m == n); });
}

bool lie_alike(const Tensor& a, const Tensor& b) {
  return are_same(a.sym_sizes(), b.sym_sizes()) && are_same(a.sym_strides(), b.sym_strides()) &&
         known(a.sym_storage_offset() == b.sym_storage_offset());
}

SymInt reach_of(SymIntArrayRef sizes, SymIntArrayRef strides, const SymInt& offset) {
  SymInt last = offset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (known(sizes[d] == 0)) return 0;
    last += (sizes[d] - 1) * strides[d];
  }
  return last + 1;
}

bool may_overlap(const Tensor& t) {
  const SymIntArrayRef sizes = t.sym_sizes(), strides = t.sym_strides();
  if (std::ranges::any_of(sizes, [](const SymInt& s) { return known(s == 0); })) return false;
  SymInt reach = 0;  // the furthest place so far
  for (const size_t d : by_stride(t, [&](size_t d) { return !known(sizes[d] <= 1); })) {
    if (!known(strides[d] > reach)) return true;
    reach += strides[d] * (sizes[d] - 1);
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
  SymDimVector sizes(old.sym_sizes().begin(), old.sym_sizes().end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!known(old.sym_strides()[d] == 0) || known(sizes[d] <= 1)) continue;
    once = slice(once, static_cast<int64_t>(d), 0, 1, 1);
    sizes[d] = 1;
  }
  const ViewChain chain = chain_to(
      base, {old.dtype(), sizes, old.sym_strides(), old.sym_storage_offset(), old.key_set()});
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
  if (!chain.empty() && known(view.sym_numel() == 0)) return base;
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
  const auto base_size = static_cast<int64_t>(base.itemsize());
  const auto view_size = static_cast<int64_t>(itemsize(view.dtype));
  if (base.is_symbolic()) {
    const SymBool inside =
        reach_of(view.sizes, view.strides, view.offset) * view_size <= base.sym_numel() * base_size;
    SB_CHECK_NOT_IMPLEMENTED(hint(inside).value_or(true),
                             "functionalize: aten::as_strided: a view of sizes ",
                             shape_text(view.sizes), ", strides ", shape_text(view.strides),
                             " and offset ", view.offset.to_string(), " looks beyond ",
                             base.describe(), ", and no symbol tells what memory is there");
  }
  if (view.dtype != base.dtype()) {
    // As many elements as make whole elements of the other dtype.
    const SymInt whole = base.sym_numel() * base_size / view_size * view_size / base_size;
    // Of the two views by another dtype that have a derivative, each where it is one.
    if (is_complex(view.dtype) && base.dtype() == to_real(view.dtype)) {
      chain.push_back(as_strided_step({whole / 2, 2}, {2, 1}, 0));
      chain.push_back({view_as_complex.handle(), {IValue()}});
    } else if (is_complex(base.dtype()) && view.dtype == to_real(base.dtype())) {
      chain.push_back(as_strided_step({whole}, {1}, 0));
      chain.push_back({view_as_real.handle(), {IValue()}});
    } else {
      chain.push_back(as_strided_step({whole}, {1}, 0));
      chain.push_back({view_dtype.handle(), {IValue(), IValue(view.dtype)}});
    }
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
  if (!tensor.storage() || !known(tensor.sym_storage_offset() == 0)) return false;
  // Of symbols, for the sizes at hand; those that only data tell are taken to fill it.
  const std::optional<int64_t> numel = hint(tensor.sym_numel());
  const bool fills =
      !numel || tensor.storage()->nbytes() == static_cast<size_t>(*numel) * tensor.itemsize();
  return fills && tensor.impl()->is_known_dense();
}

Tensor flat_storage(const Tensor& tensor) {
  if (tensor.is_symbolic() && is_whole_storage(tensor))
    return as_strided(without_bits(tensor), {tensor.sym_numel()}, {1}, 0);
  // No symbol tells how large a memory is of which the tensor has a part: its sizes become numbers.
  if (tensor.is_symbolic()) tensor.impl()->sizes();
  const size_t bytes = tensor.storage()->nbytes();
  const int64_t numel = static_cast<int64_t>(bytes / tensor.itemsize());
  const Tensor flat = as_strided(without_bits(tensor), {numel}, {1}, 0);
  if (flat.nbytes() == bytes) return flat;
  return as_strided(view_dtype(flat, DType::UInt8), {static_cast<int64_t>(bytes)}, {1}, 0);
}

Tensor with_strides(const Tensor& value, SymIntArrayRef given) {
  // Those of a tensor whose symbols may be settled here.
  const SymDimVector strides(given.begin(), given.end());
  if (are_same(value.sym_strides(), strides) && is_whole_storage(value)) return value;
  const size_t rank = strides.size();
  DimVector order(rank), inverse(rank);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return stand_in(strides[static_cast<size_t>(a)]) > stand_in(strides[static_cast<size_t>(b)]);
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
  if (!are_same(result.sym_strides(), strides))
    result = as_strided(result, result.sym_sizes(), strides, 0);
  return result;
}

}  // namespace sb
