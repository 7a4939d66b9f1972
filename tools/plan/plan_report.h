// A plan as a page, and as JSON.

#ifndef SWITCHBOARD_TOOLS_PLAN_PLAN_REPORT_H_
#define SWITCHBOARD_TOOLS_PLAN_PLAN_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/tools/plan/plan.h"

namespace sb::plan {

// A plan with what follows from it, worked out once.
class PlanReport {
 public:
  explicit PlanReport(Plan plan) : plan_(std::move(plan)), memories_(memory_by_device(plan_)) {}

  const Plan& plan() const { return plan_; }
  const std::vector<DeviceMemory>& memories() const { return memories_; }

  // A line for each call: its label, operator and results, its FLOPs, the bytes that it reads and
  // writes, and the bytes that live on all devices while it runs.
  std::string calls_text() const;
  // A line for each operator, the most FLOPs first.
  std::string totals_text() const;
  // A line for each storage: what it is, its bytes and device, the calls during which it is there
  // ("3-7", counted from 0), and its offset in the device's arena.
  std::string storages_text() const;
  // The sums: FLOPs, what is not in them, and for each device its peak and its arena.
  std::string summary_text() const;

  // All of it as one JSON object, for programs:
  //
  //   {"flops": 258048, "not_counted": {"aten::sort": 1},
  //    "ops": [{"name", "label", "results", "flops", "bytes_read", "bytes_written"}],
  //    "storages": [{"name", "device", "bytes", "is_input", "born", "dies", "outlives",
  //                  "arena_offset"}],
  //    "devices": [{"device", "peak_bytes", "peak_op", "inputs_at_peak", "live_bytes",
  //                 "arena_bytes", "arena_lower_bound", "arena_without_reuse"}]}
  //
  // FLOPs of an operator without a formula are null, and so is the arena offset of an input. Counts
  // that saturated are 18446744073709551615. `live_bytes` has a number for each call and one for
  // after the last.
  std::string to_json() const;

 private:
  Plan plan_;
  std::vector<DeviceMemory> memories_;
};

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_PLAN_REPORT_H_
