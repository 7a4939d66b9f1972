// What a program did, or would do: its calls, and the memory that they needed, as plain data.

#ifndef SWITCHBOARD_TOOLS_PLAN_PLAN_H_
#define SWITCHBOARD_TOOLS_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/tools/plan/arena.h"
#include "switchboard/tools/plan/op_cost.h"

namespace sb::plan {

// One call of a base operator.
struct PlannedOp {
  std::string name;     // "aten::addmm", or "aten::add.Tensor"
  std::string label;    // what Planner::set_label called this part of the program
  std::string results;  // "float32[32, 64]"; several are separated by commas
  CallCost cost;
};

// Memory that was taken at once and is given back at once. A storage that is resized is two: the
// old one and the new one live together while the bytes are copied.
struct PlannedStorage {
  std::string name;  // what Planner::add_input called it, or empty
  Device device;
  SymInt bytes = 0;       // an expression where the program ran with symbols for sizes
  bool is_input = false;  // weights and inputs; everything else is temporary, outputs included
  // It is there while the calls [born, dies) run, at least one; call `born` made it.
  size_t born = 0;
  size_t dies = 0;
  bool outlives = false;  // it was still there when the plan was finished
};

struct Plan {
  std::vector<PlannedOp> ops;
  std::vector<PlannedStorage> storages;  // in the order in which they were met

  // What all calls cost together, saturating; `counted` if every one of them is.
  CallCost total() const;
  // Operators without a formula, and how often each was called: their FLOPs are not in the plan.
  std::map<std::string, size_t> not_counted() const;
  // Devices that hold memory, in the order in which they were met.
  std::vector<Device> devices() const;
};

// Bytes of the storages on a device during each call; one more at the end for what was declared
// after the last one. Throws RuntimeError where int64 does not hold them.
std::vector<SymInt> live_bytes_on(const Plan& plan, Device device);

// The costs of all calls of one operator.
struct OpTotal {
  std::string name;
  size_t calls = 0;
  CallCost cost;  // sums, saturating
};
// By operator, the most FLOPs first, then the most bytes.
std::vector<OpTotal> totals_by_op(const Plan& plan);

// The memory of one device, by numbers; memory_formula.h has it by expressions.
struct DeviceMemory {
  Device device;
  int64_t peak_bytes = 0;           // the most at one time: what an allocator there would count
  size_t peak_op = 0;               // the first call during which it is reached
  int64_t inputs_at_peak = 0;       // how many of these bytes are weights and inputs
  std::vector<int64_t> live_bytes;  // as live_bytes_on()
  // The temporary storages, with a place for each. Weights and inputs are not in it: these are in
  // memory before the program starts.
  std::vector<size_t> arena_storages;  // indices of plan.storages
  Arena arena;                         // one block for each, in the same order
};
// Throws RuntimeError where the bytes at one time do not fit int64, or are expressions.
DeviceMemory memory_on(const Plan& plan, Device device);
// The same for each of plan.devices().
std::vector<DeviceMemory> memory_by_device(const Plan& plan);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_PLAN_H_
