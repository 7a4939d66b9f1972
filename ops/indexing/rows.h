// Rows that are added up by index: what the embedding operators share.

#ifndef SWITCHBOARD_OPS_INDEXING_ROWS_H_
#define SWITCHBOARD_OPS_INDEXING_ROWS_H_

#include <vector>

#include "switchboard/core/tensor.h"

namespace sb {

// Rows of one matrix that go to rows of another, each with a factor.
struct RowMoves {
  std::vector<int64_t> from, to;
  std::vector<double> factor;  // empty: all 1
  void add(int64_t f, int64_t t) {
    from.push_back(f);
    to.push_back(t);
  }
};

// A contiguous vector of these numbers.
Tensor index_vector(const std::vector<int64_t>& values);

// `t` itself where it is contiguous and of this dtype, else a copy that is.
Tensor contiguous_as(const Tensor& t, DType dtype);

void fill_zero(const Tensor& t);

// The rows of `source` that these indices, which are in range, name: a new matrix of `dtype`.
Tensor take_rows(const Tensor& source, const std::vector<int64_t>& indices, DType dtype);

// Adds factor * source[from] to table[to], in order. The matrices are of one floating-point or
// complex dtype, or the table of that in which source's is computed; the indices are in range.
void add_rows(const Tensor& table, const Tensor& source, const RowMoves& moves);

// How often each of the indices occurs among them.
std::vector<int64_t> frequencies(const std::vector<int64_t>& indices);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_ROWS_H_
