#include "switchboard/ops/indexing/gather.h"

#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/advanced_index.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/offsets.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

DimVector copy_of(IntArrayRef sizes) { return DimVector(sizes.begin(), sizes.end()); }

// Whether an index with symbolic sizes fits self for all of them, so that the rule need not ask if
// it has elements.
bool is_known_to_fit(const Tensor& self, const Tensor& index, int64_t dim) {
  if (!is_place_dtype(index.dtype()) || self.dim() != index.dim()) return false;
  for (int64_t i = 0; i < index.dim(); ++i) {
    if (i != dim && !known(index.sym_size(i) <= self.sym_size(i))) return false;
  }
  return true;
}

template <SizeType Int>
BasicTensorMeta<Int> gather_rule(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dim("gather", dim, self.dim());
  BasicTensorMeta<Int> meta{size_vector<Int>(index), self.dtype()};
  if (std::same_as<Int, SymInt> && is_known_to_fit(self, index, d)) return meta;
  if (same_size(numel_of<Int>(index), Int(0))) return meta;  // of any shape and dtype
  SB_CHECK(is_place_dtype(index.dtype()), "gather: index: expected int32 or int64, got ",
           index.describe());
  const auto rank = [](const Tensor& t) { return std::max<int64_t>(t.dim(), 1); };
  SB_CHECK(rank(self) == rank(index), "gather: index: expected as many dimensions as ",
           self.describe(), ", got ", index.describe());
  for (int64_t i = 0; i < index.dim(); ++i) {
    if (i == d) continue;
    const size_t at = static_cast<size_t>(i);
    SB_CHECK(sizes_of<Int>(index)[at] <= sizes_of<Int>(self)[at], "gather: index ",
             index.describe(), " is larger than self ", self.describe(), " in dimension ", i);
  }
  return meta;
}
void gather_kernel(const Tensor& self, int64_t dim, const Tensor& places, bool, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor index = as_int64(places);
  const int64_t d = wrap_dim("gather", dim, self.dim());
  check_indices<RuntimeError>("gather", index, 0, self.dim() == 0 ? 1 : self.size(d));
  run_indexed(walk_along(self, d, index, IndexShape::Full, out), read_loop(self.itemsize()));
}

// Both broadcast to the other's shape, but for the dimension of the indices.
template <SizeType Int>
Tensor taken_along_dim(const Tensor& self, const Tensor& indices, int64_t d) {
  SizeVector<Int> self_sizes = size_vector<Int>(self), index_sizes = size_vector<Int>(indices);
  const size_t at = static_cast<size_t>(d);
  const Int self_size = self_sizes[at];
  self_sizes[at] = index_sizes[at];
  SizeVector<Int> common = broadcast_sizes<Int>(self_sizes, index_sizes);
  const Tensor index = expand(indices, SizesRef<Int>(common));
  common[at] = self_size;
  return gather(expand(self, SizesRef<Int>(common)), d, index);
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
  SB_CHECK_INDEX(self.dim() > 0, "take_along_dim: dim: got ", *dim, " for ", self.describe(),
                 ", which has no dimensions");
  const int64_t d = wrap_dim("take_along_dim", *dim, self.dim());
  return by_size(any_symbolic(self, indices),
                 [&]<class Int>() { return taken_along_dim<Int>(self, indices, d); });
}
// As gather.out, which takes no other dtype.
Tensor take_along_dim_out_kernel(const Tensor& self, const Tensor& indices,
                                 std::optional<int64_t> dim, const Tensor& out) {
  copy_result_to_out("take_along_dim", take_along_dim(self, indices, dim), out, kCopiedOut);
  return out;
}

template <SizeType Int>
BasicTensorMeta<Int> index_select_rule(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("index_select", dim, self.dim());
  SB_CHECK_INDEX(index.dim() <= 1, "index_select: index: expected a vector, got ",
                 index.describe());
  SB_CHECK(is_place_dtype(index.dtype()), "index_select: index: expected int32 or int64, got ",
           index.describe());
  BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
  if (self.dim() == 0) {
    SB_CHECK(numel_of<Int>(index) == Int(1), "index_select: index: expected 1 element for self, ",
             self.describe(), ", got ", index.describe());
    return meta;
  }
  meta.sizes[static_cast<size_t>(d)] = numel_of<Int>(index);
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
    copy_elements(out, self);
    return;
  }
  run_indexed(walk_along(self, d, index64, IndexShape::Vector, out), read_loop(self.itemsize()));
}

template <SizeType Int>
BasicTensorMeta<Int> take_rule(const Tensor& self, const Tensor& index) {
  SB_CHECK(index.dtype() == DType::Int64, "take: index: expected int64, got ", index.describe());
  SB_CHECK_INDEX(sym_or(numel_of<Int>(self) > 0, numel_of<Int>(index) == 0), "take: self ",
                 self.describe(), " has no element to take");
  return {size_vector<Int>(index), self.dtype()};
}
// A given out that is resized lies in memory as the index does.
TensorMeta take_out_rule(const Tensor& self, const Tensor& index) {
  TensorMeta meta = take_rule<int64_t>(self, index);
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
  return structured_form<index_select_rule<int64_t>, index_select_kernel>(
      index_select_out, with_data, kNoOverlap)(self, dim, index, out);
}
}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, gather)
      .structured<by_size_rule<gather_rule<int64_t>, gather_rule<SymInt>>, gather_kernel>(
          kNoOverlap)
      .out(gather_out);
  define(m, take_along_dim)
      .composed(take_along_dim_kernel)
      .out(take_along_dim_out, take_along_dim_out_kernel);
  define(m, index_select)
      .structured<by_size_rule<index_select_rule<int64_t>, index_select_rule<SymInt>>,
                  index_select_kernel>();
  define(m, index_select_out).cpu(index_select_to<true>).meta(index_select_to<false>);

  define(m, take).structured<by_size_rule<take_rule<int64_t>, take_rule<SymInt>>, take_kernel>();
  define(m, take_out).structured<take_out_rule, take_kernel>(kNoOverlap);
}

}  // namespace sb
