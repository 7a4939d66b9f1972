// What one of several functions gives, whichever runs.

#ifndef SWITCHBOARD_FAKE_MERGE_BRANCHES_H_
#define SWITCHBOARD_FAKE_MERGE_BRANCHES_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/fake/fake_mode.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::internal {

struct BranchResults {
  std::string name;  // of the function: "higher_order::cond: true_fn"
  std::vector<Tensor> tensors;
  // Which of them have memory that the function made.
  std::vector<bool> fresh;
};
// Calls the function in the mode: call_in().
BranchResults run_branch(FakeMode& mode, std::string name,
                         const control_flow::FunctionArgument& function,
                         const std::vector<Tensor>& operands);

// As `_merge_output` of PyTorch's cond: a size in which the functions differ is a fresh symbol of
// the mode's ShapeEnv, between the least and the greatest that any of them may be. The dimensions
// must lie in memory in one order then, without gaps. RuntimeError, naming the function and the
// result, where numbers of results, dtypes, devices or strides differ, and where the mode has no
// ShapeEnv and sizes do. `op`, a literal, is who calls the functions.
std::vector<Tensor> merge_branches(FakeMode& mode, std::string_view op,
                                   const std::vector<BranchResults>& branches);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_MERGE_BRANCHES_H_
