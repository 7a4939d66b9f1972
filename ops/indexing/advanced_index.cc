#include "switchboard/ops/indexing/advanced_index.h"

#include <algorithm>
#include <functional>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/indexing/strided_walk.h"
#include "switchboard/ops/tensor_iterator.h"

namespace sb {
namespace {

// The shape that all index tensors broadcast to.
DimVector common_shape(const char* op, const std::vector<Tensor>& indices) {
  DimVector sizes;
  for (const Tensor& t : indices) {
    const IntArrayRef s = t.sizes();
    if (s.size() > sizes.size()) sizes.insert(sizes.begin(), s.size() - sizes.size(), 1);
    for (size_t i = 1; i <= s.size(); ++i) {
      int64_t& size = sizes[sizes.size() - i];
      const int64_t given = s[s.size() - i];
      SB_CHECK_INDEX(size == given || size == 1 || given == 1, op,
                     ": the index tensors do not broadcast together: ", shape_text(sizes), " and ",
                     t.describe());
      if (size == 1) size = given;
    }
  }
  return sizes;
}

Tensor expand_to(const Tensor& t, IntArrayRef sizes) {
  DimVector strides = broadcast_byte_strides(t, sizes);
  for (int64_t& s : strides) s /= static_cast<int64_t>(t.itemsize());
  return alias_with_unchecked(t, sizes, strides, t.storage_offset());
}

// The strides of `table` in the dimensions of the result, 0 in those of the indices.
DimVector table_strides(const Tensor& table, const AdvancedIndex& plan) {
  DimVector strides;
  for (int64_t d : plan.self_dims) {
    strides.push_back(d < 0 ? 0 : table.strides()[static_cast<size_t>(d)]);
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
  const DimVector order = iterator_order(sizes, operands);
  if (std::ranges::is_sorted(order, std::greater<>())) return {};
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (int64_t d : order) {
    strides[static_cast<size_t>(d)] = stride;
    stride = checked_mul(stride, sizes[static_cast<size_t>(d)]);
  }
  return strides;
}

void check_index_list(const char* op, const Tensor& self, OptionalTensorList indices) {
  SB_CHECK_INDEX(indices.size() <= static_cast<size_t>(self.dim()), op,
                 ": too many indices for self, ", self.describe(), ": ", indices.size());
  for (const auto& index : indices) {
    if (!is_given(index)) continue;
    SB_CHECK_INDEX(index->dtype() == DType::Int64 || is_mask(*index), op,
                   ": indices: expected int64, bool or uint8 tensors, got ", index->describe());
  }
  int64_t dim = 0;
  for (const auto& index : indices) {
    if (!is_given(index) || !is_mask(*index)) {
      ++dim;
      continue;
    }
    for (int64_t size : index->sizes()) {
      SB_CHECK_INDEX(dim < self.dim() && size == self.size(dim), op, ": the mask ",
                     index->describe(), " does not fit self, ", self.describe(), ", at dimension ",
                     dim);
      ++dim;
    }
  }
  SB_CHECK_INDEX(dim <= self.dim(), op, ": too many indices for self, ", self.describe());
}

bool has_mask(OptionalTensorList indices) {
  return std::ranges::any_of(indices, [](const auto& i) { return is_given(i) && is_mask(*i); });
}

std::vector<std::optional<Tensor>> expand_masks(OptionalTensorList indices) {
  std::vector<std::optional<Tensor>> result;
  for (const auto& index : indices) {
    if (!is_given(index) || !is_mask(*index)) {
      result.push_back(index);
      continue;
    }
    const Tensor places = nonzero_places(*index);
    for (int64_t d = 0; d < index->dim(); ++d) {
      result.push_back(alias_with_unchecked(places, {places.sizes()[0]}, {places.strides()[0]},
                                            d * places.strides()[1]));
    }
  }
  return result;
}

AdvancedIndex plan_index(const char* op, const Tensor& self, OptionalTensorList indices) {
  AdvancedIndex plan;
  std::vector<Tensor> given;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!is_given(indices[d])) continue;
    given.push_back(*indices[d]);
    plan.dims.push_back(d);
  }
  SB_CHECK(!given.empty(), op, ": expected at least one index tensor");
  const DimVector shape = common_shape(op, given);
  for (const Tensor& t : given) plan.indices.push_back(expand_to(t, shape));

  const bool adjacent = plan.dims.back() - plan.dims.front() + 1 == plan.dims.size();
  plan.begin = adjacent ? plan.dims.front() : 0;
  plan.end = plan.begin + shape.size();
  const bool empty = std::ranges::find(shape, 0) != shape.end();
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (std::ranges::find(plan.dims, d) != plan.dims.end()) {
      SB_CHECK_INDEX(empty || self.sizes()[d] != 0, op, ": an index into dimension ", d, " of ",
                     self.describe(), ", which has no elements");
      continue;
    }
    plan.sizes.push_back(self.sizes()[d]);
    plan.self_dims.push_back(static_cast<int64_t>(d));
  }
  const auto at = static_cast<int64_t>(plan.begin);
  plan.sizes.insert(plan.sizes.begin() + at, shape.begin(), shape.end());
  plan.self_dims.insert(plan.self_dims.begin() + at, shape.size(), -1);

  std::vector<DimVector> operands = {table_strides(self, plan)};
  for (const Tensor& t : plan.indices) {
    DimVector strides(plan.sizes.size(), 0);
    for (size_t i = 0; i < shape.size(); ++i) strides[plan.begin + i] = t.strides()[i];
    operands.push_back(std::move(strides));
  }
  plan.result_strides = iterator_strides(plan.sizes, operands);
  return plan;
}

Tensor index_offsets(const char* op, const Tensor& table, const AdvancedIndex& plan) {
  const IntArrayRef shape = plan.indices[0].sizes();
  const Tensor offsets = empty_on(Device(DeviceType::CPU), shape, DType::Int64);
  std::fill_n(offsets.data<int64_t>(), offsets.numel(), 0);
  for (size_t k = 0; k < plan.indices.size(); ++k) {
    const Tensor& index = plan.indices[k];
    const int64_t size = table.sizes()[plan.dims[k]];
    // Where self has no element, nothing is read, and any index will do, as in PyTorch.
    if (table.numel() != 0) check_indices<IndexError>(op, index, -size, size);
    const int64_t step = table.strides()[plan.dims[k]] * static_cast<int64_t>(table.itemsize());
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
  walk.table_strides = table_strides(table, plan);
  for (int64_t& s : walk.table_strides) s *= static_cast<int64_t>(table.itemsize());
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
