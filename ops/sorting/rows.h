// The walk over the rows of tensors along one dimension, which sorts, selections and scans share.

#ifndef SWITCHBOARD_OPS_SORTING_ROWS_H_
#define SWITCHBOARD_OPS_SORTING_ROWS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"

namespace sb {

// Elements at even distances in memory; the step is in bytes.
struct Row {
  char* data;
  int64_t step;
  int64_t size;

  char* at(int64_t i) const { return data + i * step; }
};

// Calls f(rows) for every row along `dim` (not negative) of CPU tensors whose other sizes are
// equal, with one Row of each tensor, on several threads. A tensor without dimensions is a row of
// one element, and so is each element of a tensor that lacks `dim`. `cost` says how many elements a
// row is worth.
void for_each_row(absl::Span<const Tensor* const> tensors, int64_t dim, int64_t cost,
                  absl::FunctionRef<void(const Row* rows)> f);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_ROWS_H_
