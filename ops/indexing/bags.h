// What embedding_bag and its derivatives share.

#ifndef SWITCHBOARD_OPS_INDEXING_BAGS_H_
#define SWITCHBOARD_OPS_INDEXING_BAGS_H_

#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/indexing/rows.h"

namespace sb {

// How the rows of a bag are combined: the operators' argument `mode`.
struct BagMode {
  enum : int64_t { kSum = 0, kMean = 1, kMax = 2 };
};

inline bool is_index_dtype(DType t) { return t == DType::Int32 || t == DType::Int64; }

// The bag of each index; the number of bags for those behind the last one, and -1 if there are no
// offsets. Throws for offsets out of range: IndexError, or RuntimeError for the first and the last.
std::vector<int64_t> bags_of(int64_t num_indices, const Tensor& offsets);

// Row number `row` of a contiguous matrix.
template <class T>
absl::Span<T> row_of(const Tensor& t, int64_t row) {
  const int64_t width = t.sizes()[1];
  return {t.data<T>() + row * width, static_cast<size_t>(width)};
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_BAGS_H_
