#include "switchboard/ops/indexing/bags.h"

#include "switchboard/core/error.h"

namespace sb {

std::vector<int64_t> bags_of(int64_t num_indices, const Tensor& offsets) {
  const Tensor wide = contiguous_as(offsets, DType::Int64);
  const int64_t* const offset = wide.data<int64_t>();
  const int64_t n = wide.numel();
  if (n > 0) {
    SB_CHECK(offset[0] == 0, "embedding_bag: offsets[0]: expected 0, got ", offset[0]);
    SB_CHECK(offset[n - 1] <= num_indices, "embedding_bag: offsets[", n - 1,
             "]: expected at most the number of indices, ", num_indices, ", got ", offset[n - 1]);
    for (int64_t i = 0; i < n; ++i) {
      SB_CHECK_INDEX(offset[i] >= 0 && offset[i] <= num_indices, "embedding_bag: offsets[", i,
                     "]: expected 0 to the number of indices, ", num_indices, ", got ", offset[i]);
    }
  }
  std::vector<int64_t> bags(static_cast<size_t>(num_indices), 0);
  if (n == 0 && num_indices > 0) bags[0] = -1;
  for (int64_t i = 1; i < n; ++i) {
    if (offset[i] < num_indices) ++bags[static_cast<size_t>(offset[i])];
  }
  for (size_t i = 1; i < bags.size(); ++i) bags[i] += bags[i - 1];
  return bags;
}

}  // namespace sb
