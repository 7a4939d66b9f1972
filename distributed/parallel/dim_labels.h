// Labels for dimensions, as rules make them (Dims in strategy.h).

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_DIM_LABELS_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_DIM_LABELS_H_

#include <cstddef>
#include <numeric>
#include <vector>

#include "switchboard/distributed/parallel/strategy.h"

namespace sb {

// first, first + 1, ...: one for each of `count` dimensions.
inline std::vector<int> count_up(size_t count, int first = 0) {
  std::vector<int> labels(count);
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}

// Of a tensor that is broadcast to `to`, whose dimensions have `labels`: sizes that differ are
// whole. Empty dimensions in front have none.
inline std::vector<int> broadcast_labels(const SizeList& sizes, const SizeList& to,
                                         const std::vector<int>& labels) {
  std::vector<int> result(sizes.size(), Dims::kWhole);
  for (size_t back = 1; back <= sizes.size() && back <= to.size(); ++back)
    if (sizes[sizes.size() - back] == to[to.size() - back])
      result[sizes.size() - back] = labels[labels.size() - back];
  return result;
}

// The sizes of tensors that are broadcast with one another; empty where they cannot be.
inline SizeList broadcast_sizes(const SizeList& a, const SizeList& b) {
  SizeList all(std::max(a.size(), b.size()), 1);
  for (size_t back = 1; back <= all.size(); ++back) {
    const int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) return {};
    all[all.size() - back] = x == 1 ? y : x;
  }
  return all;
}

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_DIM_LABELS_H_
