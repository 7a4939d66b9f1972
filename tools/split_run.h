// What --parallel makes of a run: each rank runs a part.

#ifndef SWITCHBOARD_TOOLS_SPLIT_RUN_H_
#define SWITCHBOARD_TOOLS_SPLIT_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "switchboard/distributed/parallel/batch_split.h"
#include "switchboard/distributed/parallel/tensor_split.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/json.h"

namespace sb::tools {

class SplitRun {
 public:
  // `how` is "data", a part of the batch, or "tensor", a part of the weights. The plan, which must
  // outlive this, is that of one rank alone. Throws ValueError for another word, and what
  // BatchSplit and TensorSplit throw.
  SplitRun(const std::string& how, const RunPlan& plan);
  SplitRun(const SplitRun&) = delete;
  SplitRun& operator=(const SplitRun&) = delete;

  // That of this rank.
  const RunPlan& plan() const { return *plan_; }
  // What the results rest on and nothing checks.
  std::vector<std::string> warnings() const;

  // Of tensor: in a few lines, how much of the weights a rank has and what is sent; empty for data.
  std::string summary() const;
  // Of tensor: where each value lies, and which collective runs for what; empty for data.
  std::string placements() const;
  // The same: {ranks, values: [{name, operator, tensor, placements}], collectives: [{operator,
  // value, from, to, bytes, because}]}; null for data.
  Json to_json() const;

 private:
  std::optional<BatchSplit> batch_;
  std::optional<TensorSplit> tensor_;
  std::optional<io::GraphRunner> runner_;
  std::optional<RunPlan> plan_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_SPLIT_RUN_H_
