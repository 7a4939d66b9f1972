#include "switchboard/ops/indexing/advanced_index.h"

#include <algorithm>
#include <functional>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/indexing/strided_walk.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

// The shape that all index tensors broadcast to.
template <SizeType Int>
SizeVector<Int> common_shape(const char* op, const std::vector<Tensor>& indices) {
  SizeVector<Int> sizes;
  for (const Tensor& t : indices) {
    sizes = broadcast_sizes<Int>(sizes, sizes_of<Int>(t), [&](const auto& same, size_t) {
      SB_CHECK_INDEX(same, op, ": the index tensors do not broadcast together: ",
                     shape_text(SizesRef<Int>(sizes)), " and ", t.describe());
    });
  }
  return sizes;
}

// The strides of a tensor that is expanded: a dimension that stays one of size 1 keeps its own,
// which may decide the order of the result's dimensions.
DimVector expanded_strides(IntArrayRef own_sizes, IntArrayRef own_strides, IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  const size_t added = sizes.size() - own_sizes.size();
  for (size_t d = 0; d < own_sizes.size(); ++d) {
    if (own_sizes[d] == sizes[added + d]) strides[added + d] = own_strides[d];
  }
  return strides;
}
Tensor expand_to(const Tensor& t, IntArrayRef sizes) {
  return alias_with_unchecked(t, sizes, expanded_strides(t.sizes(), t.strides(), sizes),
                              t.storage_offset());
}

// self's strides in the dimensions of the result, 0 in those of the indices.
DimVector table_strides(IntArrayRef self_strides, const DimVector& self_dims) {
  DimVector strides;
  for (int64_t d : self_dims) strides.push_back(d < 0 ? 0 : self_strides[static_cast<size_t>(d)]);
  return strides;
}
// An index's strides in the dimensions of the result, where they begin at `begin`.
DimVector in_result(IntArrayRef index_strides, size_t begin, size_t rank) {
  DimVector strides(rank, 0);
  std::ranges::copy(index_strides, strides.begin() + static_cast<int64_t>(begin));
  return strides;
}

// The strides of dimensions that lie in that order, fastest first; none for contiguous ones.
template <SizeType Int>
SizeVector<Int> strides_in_order(SizesRef<Int> sizes, const DimVector& order) {
  if (std::ranges::is_sorted(order, std::greater<>())) return {};
  SizeVector<Int> strides(sizes.size());
  Int stride = 1;
  for (int64_t d : order) {
    strides[static_cast<size_t>(d)] = stride;
    stride = product_of(stride, sizes[static_cast<size_t>(d)]);
  }
  return strides;
}

}  // namespace

DimVector iterator_order(const DimVector& sizes, const std::vector<DimVector>& operands) {
  const size_t rank = sizes.size();
  const auto compare = [&](size_t dim0, size_t dim1) {
    for (const DimVector& strides : operands) {
      const int64_t a = strides[dim0], b = strides[dim1];
      if (a == 0 || b == 0) continue;
      if (a != b) return a < b ? -1 : 1;
      if (sizes[dim0] > sizes[dim1]) return 1;
    }
    return 0;
  };
  DimVector order(rank);  // fastest first
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
  // An insertion sort that lets ambiguous comparisons stand.
  for (size_t i = 1; i < rank; ++i) {
    size_t at = i;
    for (size_t j = i; j-- > 0;) {
      const int sign = compare(static_cast<size_t>(order[j]), static_cast<size_t>(order[at]));
      if (sign < 0) break;
      if (sign > 0) {
        std::swap(order[j], order[at]);
        at = j;
      }
    }
  }
  return order;
}

DimVector iterator_strides(const DimVector& sizes, const std::vector<DimVector>& operands) {
  return strides_in_order<int64_t>(sizes, iterator_order(sizes, operands));
}

template <SizeType Int>
IndexedShape<Int> indexed_shape(const char* op, const Tensor& self, OptionalTensorList indices) {
  IndexedShape<Int> shape;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!is_given(indices[d])) continue;
    shape.indices.push_back(*indices[d]);
    shape.dims.push_back(d);
  }
  SB_CHECK(!shape.indices.empty(), op, ": indices: expected at least one index tensor");
  shape.common = common_shape<Int>(op, shape.indices);

  const bool adjacent = shape.dims.back() - shape.dims.front() + 1 == shape.dims.size();
  shape.begin = adjacent ? shape.dims.front() : 0;
  shape.end = shape.begin + shape.common.size();
  const SizesRef<Int> sizes = sizes_of<Int>(self);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (std::ranges::find(shape.dims, d) != shape.dims.end()) {
      auto fits = sizes[d] != 0;
      if (known(fits)) continue;
      for (const Int& size : shape.common) fits = sym_or(fits, size == 0);
      SB_CHECK_INDEX(fits, op, ": an index into dimension ", d, " of ", self.describe(),
                     ", which has no elements");
      continue;
    }
    shape.sizes.push_back(sizes[d]);
    shape.self_dims.push_back(static_cast<int64_t>(d));
  }
  const auto at = static_cast<int64_t>(shape.begin);
  shape.sizes.insert(shape.sizes.begin() + at, shape.common.begin(), shape.common.end());
  shape.self_dims.insert(shape.self_dims.begin() + at, shape.common.size(), -1);
  return shape;
}
template IndexedShape<int64_t> indexed_shape<int64_t>(const char*, const Tensor&,
                                                      OptionalTensorList);
template IndexedShape<SymInt> indexed_shape<SymInt>(const char*, const Tensor&, OptionalTensorList);

AdvancedIndex plan_index(const char* op, const Tensor& self, OptionalTensorList indices) {
  AdvancedIndex plan{indexed_shape<int64_t>(op, self, indices), {}};
  for (Tensor& t : plan.indices) t = expand_to(t, plan.common);
  std::vector<DimVector> operands = {table_strides(self.strides(), plan.self_dims)};
  for (const Tensor& t : plan.indices)
    operands.push_back(in_result(t.strides(), plan.begin, plan.sizes.size()));
  plan.result_strides = iterator_strides(plan.sizes, operands);
  return plan;
}

SymDimVector symbolic_result_strides(const Tensor& self, const IndexedShape<SymInt>& shape) {
  DimVector sizes;
  for (const SymInt& size : shape.sizes) sizes.push_back(stand_in(size));
  std::vector<DimVector> operands = {table_strides(self.impl()->hint_strides(), shape.self_dims)};
  for (const Tensor& t : shape.indices) {
    const IntArrayRef common = IntArrayRef(sizes).subspan(shape.begin, shape.common.size());
    operands.push_back(
        in_result(expanded_strides(t.impl()->hint_sizes(), t.impl()->hint_strides(), common),
                  shape.begin, sizes.size()));
  }
  return strides_in_order<SymInt>(shape.sizes, iterator_order(sizes, operands));
}

Tensor index_offsets(const char* op, const Tensor& table, const AdvancedIndex& plan) {
  const IntArrayRef shape = plan.indices[0].sizes();
  const Tensor offsets = empty_on(Device(DeviceType::CPU), shape, DType::Int64);
  std::fill_n(offsets.data<int64_t>(), offsets.numel(), 0);
  for (size_t k = 0; k < plan.indices.size(); ++k) {
    const Tensor index = as_int64(plan.indices[k]);
    const int64_t size = table.sizes()[plan.dims[k]];
    // Where self has no element, nothing is read, and any index will do, as in PyTorch.
    if (table.numel() != 0) check_indices<IndexError>(op, index, -size, size);
    const int64_t step = broadcast_byte_strides(table, table.sizes())[plan.dims[k]];
    strided_walk<2>(DimVector(shape.begin(), shape.end()),
                    {broadcast_byte_strides(offsets, shape), broadcast_byte_strides(index, shape)},
                    {static_cast<char*>(offsets.data_ptr()), static_cast<char*>(index.data_ptr())},
                    [&](std::array<char*, 2> at, const std::array<int64_t, 2>& stride, int64_t n) {
                      for (int64_t i = 0; i < n; ++i) {
                        const int64_t place = *reinterpret_cast<const int64_t*>(at[1]);
                        *reinterpret_cast<int64_t*>(at[0]) +=
                            (place < 0 ? place + size : place) * step;
                        at[0] += stride[0];
                        at[1] += stride[1];
                      }
                    });
  }
  return offsets;
}

IndexedWalk walk_index(const Tensor& table, const AdvancedIndex& plan, const Tensor& offsets,
                       const Tensor& other) {
  IndexedWalk walk;
  walk.sizes = plan.sizes;
  walk.table_strides = table_strides(broadcast_byte_strides(table, table.sizes()), plan.self_dims);
  walk.index_strides.assign(plan.sizes.size(), 0);
  const DimVector strides = broadcast_byte_strides(offsets, offsets.sizes());
  std::ranges::copy(strides, walk.index_strides.begin() + static_cast<int64_t>(plan.begin));
  walk.other_strides = broadcast_byte_strides(other, plan.sizes);
  walk.table = static_cast<char*>(table.data_ptr());
  walk.index = offsets.data<int64_t>();
  walk.other = static_cast<char*>(other.data_ptr());
  return walk;
}

}  // namespace sb
