// The rules of advanced indexing, x[i, :, j]: what index and index_put share.

#ifndef SWITCHBOARD_OPS_INDEXING_ADVANCED_INDEX_H_
#define SWITCHBOARD_OPS_INDEXING_ADVANCED_INDEX_H_

#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/ops/indexing/indexed_walk.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/index_list.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {

// The order in which TensorIterator walks over dimensions of these sizes, fastest first.
DimVector iterator_order(const DimVector& sizes, const std::vector<DimVector>& operands);

// The strides that TensorIterator gives a new result of these sizes for operands of these strides
// (0 for what is broadcast): the fastest dimension of the first operand that has an opinion becomes
// the fastest. Empty for contiguous ones.
DimVector iterator_strides(const DimVector& sizes, const std::vector<DimVector>& operands);

// How the indices meet self. The result's shape is self's with the indexed dimensions replaced by
// the indices' common shape: where they were if they are neighbours, in front otherwise.
template <SizeType Int>
struct IndexedShape {
  std::vector<Tensor> indices;  // those that are given
  std::vector<size_t> dims;     // the dimension of self that each indexes
  SizeVector<Int> common;       // what they broadcast to
  SizeVector<Int> sizes;        // of the result
  size_t begin = 0, end = 0;    // the indices' dimensions in it
  DimVector self_dims;          // self's dimension for each of the result; -1 for the indices'
};
// The same with the indices expanded to their common shape, and the strides of a new result as
// TensorIterator chooses them; empty for contiguous.
struct AdvancedIndex : IndexedShape<int64_t> {
  DimVector result_strides;
};

// `indices` hold no masks. Throws IndexError where they do not broadcast together, or point into a
// dimension without elements; RuntimeError where there is none.
template <SizeType Int>
IndexedShape<Int> indexed_shape(const char* op, const Tensor& self, OptionalTensorList indices);
AdvancedIndex plan_index(const char* op, const Tensor& self, OptionalTensorList indices);

// The strides of a new result where sizes are symbols. As in elementwise operators, what they stand
// for at the moment decides the order of the dimensions.
SymDimVector symbolic_result_strides(const Tensor& self, const IndexedShape<SymInt>& shape);

// Byte offsets from the first element of `table`, which has self's shape, for each element of the
// indices' common shape. Throws IndexError for an index out of range; negative ones count from the
// end.
Tensor index_offsets(const char* op, const Tensor& table, const AdvancedIndex& plan);

// The walk over the result's shape, to which `other` broadcasts.
IndexedWalk walk_index(const Tensor& table, const AdvancedIndex& plan, const Tensor& offsets,
                       const Tensor& other);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_ADVANCED_INDEX_H_
