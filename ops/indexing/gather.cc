#include "switchboard/ops/indexing/gather.h"

#include "switchboard/ops/copied_out.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/indexing/advanced_index.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/offsets.h"
#include "switchboard/ops/memory_overlap.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/structured.h"
#include "switchboard/ops/tensor_iterator.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

DimVector copy_of(IntArrayRef sizes) { return DimVector(sizes.begin(), sizes.end()); }

TensorMeta gather_rule(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dim("gather", dim, self.dim());
  TensorMeta meta{copy_of(index.sizes()), self.dtype()};
  if (index.numel() == 0) return meta;  // of any shape and dtype
  SB_CHECK(index.dtype() == DType::Int64, "gather: index: expected int64, got ", index.describe());
  const auto rank = [](const Tensor& t) { return std::max<int64_t>(t.dim(), 1); };
  SB_CHECK(rank(self) == rank(index), "gather: index: expected as many dimensions as ",
           self.describe(), ", got ", index.describe());
  for (int64_t i = 0; i < index.dim(); ++i) {
    SB_CHECK(i == d || index.size(i) <= self.size(i), "gather: index ", index.describe(),
             " is larger than self ", self.describe(), " in dimension ", i);
  }
  return meta;
}
void gather_kernel(const Tensor& self, int64_t dim, const Tensor& index, bool, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim("gather", dim, self.dim());
  check_indices<RuntimeError>("gather", index, 0, self.dim() == 0 ? 1 : self.size(d));
  run_indexed(walk_along(self, d, index, IndexShape::Full, out), read_loop(self.itemsize()));
}

Tensor take_along_dim_kernel(const Tensor& self, const Tensor& indices,
                             std::optional<int64_t> dim) {
  check_defined("take_along_dim", self);
  check_defined("take_along_dim", indices);
  SB_CHECK(indices.dtype() == DType::Int64, "take_along_dim: indices: expected int64, got ",
           indices.describe());
  if (!dim) return gather(view(self, {-1}), 0, view(indices, {-1}));
  SB_CHECK(self.dim() == indices.dim(), "take_along_dim: expected equally many dimensions, got ",
           self.describe(), " and ", indices.describe());
  const int64_t d = wrap_dim("take_along_dim", *dim, self.dim());
  if (self.dim() == 0) return gather(self, d, indices);
  // Both broadcast to the other's shape, but for the dimension of the indices.
  DimVector self_sizes = copy_of(self.sizes()), index_sizes = copy_of(indices.sizes());
  const size_t at = static_cast<size_t>(d);
  const int64_t self_size = self_sizes[at], index_size = index_sizes[at];
  self_sizes[at] = index_size;
  auto common = broadcast_shapes(self_sizes, index_sizes);
  const Tensor index = expand(indices, common);
  common[at] = self_size;
  return gather(expand(self, common), d, index);
}

TensorMeta index_select_rule(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("index_select", dim, self.dim());
  SB_CHECK_INDEX(index.dim() <= 1, "index_select: index: expected a vector, got ",
                 index.describe());
  SB_CHECK(index.dtype() == DType::Int32 || index.dtype() == DType::Int64,
           "index_select: index: expected int32 or int64, got ", index.describe());
  TensorMeta meta{copy_of(self.sizes()), self.dtype()};
  if (self.dim() > 0) meta.sizes[static_cast<size_t>(d)] = index.numel();
  return meta;
}
void index_select_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  const int64_t d = wrap_dim("index_select", dim, self.dim());
  const Tensor index64 = as_int64(index);
  const int64_t size = self.dim() == 0 ? 1 : self.size(d);
  // PyTorch's ways of many dimensions throw another error where self is empty, and where a faster
  // one does the work.
  if (self.dim() > 1 && (self.numel() == 0 || (d == 1 && out.is_contiguous()))) {
    check_indices<RuntimeError>("index_select", index64, 0, size);
  } else {
    check_indices<IndexError>("index_select", index64, 0, size);
  }
  if (self.numel() == 0) return;
  if (self.dim() == 0) {
    copy_elements(out, self);  // of however many indices
    return;
  }
  run_indexed(walk_along(self, d, index64, IndexShape::Vector, out), read_loop(self.itemsize()));
}

TensorMeta take_rule(const Tensor& self, const Tensor& index) {
  SB_CHECK(index.dtype() == DType::Int64, "take: index: expected int64, got ", index.describe());
  SB_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "take: self ", self.describe(),
                 " has no element to take");
  return {copy_of(index.sizes()), self.dtype()};
}
// A given out that is resized lies in memory as the index does.
TensorMeta take_out_rule(const Tensor& self, const Tensor& index) {
  TensorMeta meta = take_rule(self, index);
  meta.strides = iterator_strides(meta.sizes, {copy_of(index.strides())});
  return meta;
}
void take_kernel(const Tensor& self, const Tensor& index, const Tensor& out) {
  const Tensor offsets = flat_offsets("take", self, index);
  run_indexed(walk_offsets(self, offsets, out), read_loop(self.itemsize()));
}

constexpr StructuredOptions kNoOverlap = {.refuse_overlap = true};

// index_select refuses an out that overlaps itself even where it would get another shape.
template <bool with_data>
Tensor index_select_to(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  if (out.defined()) check_no_internal_overlap(out);
  using Forms = internal::StructuredForms<decltype(&index_select_rule)>;
  return Forms::Out<index_select_out_op, index_select_rule, index_select_kernel, kNoOverlap,
                    with_data>()(self, dim, index, out);
}
}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_structured<gather_rule, gather_kernel, kNoOverlap>(m, gather);
  m.define(take_along_dim);
  m.impl(take_along_dim, DispatchKey::CompositeImplicitAutograd, take_along_dim_kernel);
  define_out_by_copy<take_along_dim>(m);
  define_functional<index_select_rule, index_select_kernel>(m, index_select);
  m.define(index_select_out);
  m.impl(index_select_out, DispatchKey::CPU, index_select_to<true>);
  m.impl(index_select_out, DispatchKey::Meta, index_select_to<false>);

  define_functional<take_rule, take_kernel>(m, take);
  using TakeForms = internal::StructuredForms<decltype(&take_rule)>;
  m.define(take_out);
  m.impl(take_out, DispatchKey::CPU,
         TakeForms::Out<take_out_op, take_out_rule, take_kernel, kNoOverlap, true>());
  m.impl(take_out, DispatchKey::Meta,
         TakeForms::Out<take_out_op, take_out_rule, take_kernel, kNoOverlap, false>());
}

}  // namespace sb
