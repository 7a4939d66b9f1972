// What one of several functions gives, whichever runs.

#ifndef SWITCHBOARD_FAKE_MERGE_BRANCHES_H_
#define SWITCHBOARD_FAKE_MERGE_BRANCHES_H_

#include <string>
#include <vector>

#include "switchboard/fake/fake_mode.h"

namespace sb::internal {

struct BranchResults {
  std::string name;  // of the function: "higher_order::cond: true_fn"
  std::vector<Tensor> tensors;
};

// As `_merge_output` of PyTorch's cond: a size in which the functions differ is a fresh symbol of
// the mode's ShapeEnv, between the least and the greatest that any of them may be. The dimensions
// must lie in memory in one order then, without gaps. RuntimeError, naming the function and the
// result, where numbers of results, dtypes, devices or strides differ, and where the mode has no
// ShapeEnv and sizes do.
std::vector<Tensor> merge_branches(FakeMode& mode, const std::vector<BranchResults>& branches);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_MERGE_BRANCHES_H_
