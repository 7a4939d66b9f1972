#include "switchboard/ops/sorting/rows.h"

#include <algorithm>

#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {
namespace {

using Strides = absl::InlinedVector<int64_t, 5>;

// One tensor's part in the walk; strides in bytes, of the dimensions other than that of the rows.
struct Operand {
  Row row;
  Strides outer;

  Operand(const Tensor& t, int64_t rank, int64_t dim) {
    const int64_t itemsize = static_cast<int64_t>(t.itemsize());
    row = {t.numel() == 0 ? nullptr : static_cast<char*>(t.data_ptr()), itemsize, 1};
    const bool has_dim = t.dim() == rank && rank != 0;
    const DimVector strides = broadcast_byte_strides(t, t.sizes());
    for (int64_t d = 0; d < t.dim(); ++d) {
      const int64_t stride = strides[static_cast<size_t>(d)];
      if (has_dim && d == dim) {
        row.step = stride;
        row.size = t.size(d);
      } else {
        outer.push_back(stride);
      }
    }
  }
};

}  // namespace

void for_each_row(absl::Span<const Tensor* const> tensors, int64_t dim, int64_t cost,
                  absl::FunctionRef<void(const Row* rows)> f) {
  int64_t rank = 0;
  const Tensor* whole = tensors[0];
  for (const Tensor* t : tensors) {
    if (t->dim() > rank) whole = t;
    rank = std::max(rank, t->dim());
  }
  absl::InlinedVector<int64_t, 5> sizes;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == dim) continue;
    sizes.push_back(whole->size(d));
    count *= whole->size(d);
  }
  absl::InlinedVector<Operand, 4> operands;
  for (const Tensor* t : tensors) operands.emplace_back(*t, rank, dim);

  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, cost));
  parallel_for(0, count, grain, [&](int64_t from, int64_t to) {
    absl::InlinedVector<int64_t, 5> index(sizes.size(), 0);
    absl::InlinedVector<Row, 4> rows;
    for (const Operand& operand : operands) rows.push_back(operand.row);
    const auto move = [&](size_t d, int64_t steps) {
      for (size_t k = 0; k < rows.size(); ++k) {
        if (rows[k].data) rows[k].data += steps * operands[k].outer[d];
      }
    };
    int64_t rest = from;
    for (size_t d = sizes.size(); d-- > 0;) {
      index[d] = rest % sizes[d];
      rest /= sizes[d];
      move(d, index[d]);
    }
    for (int64_t i = from; i < to; ++i) {
      f(rows.data());
      for (size_t d = sizes.size(); d-- > 0;) {
        move(d, 1);
        if (++index[d] < sizes[d]) break;
        move(d, -sizes[d]);
        index[d] = 0;
      }
    }
  });
}

}  // namespace sb
