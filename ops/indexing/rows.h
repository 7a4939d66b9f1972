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

// Adds factor * source[from] to table[to], in order. The matrices are of one floating-point or
// complex dtype, and the indices in range.
void add_rows(const Tensor& table, const Tensor& source, const RowMoves& moves);

// How often each of the indices occurs among them.
std::vector<int64_t> frequencies(const std::vector<int64_t>& indices);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_ROWS_H_
