// The memory of a program as expressions of the symbols that its sizes are.

#ifndef SWITCHBOARD_TOOLS_PLAN_MEMORY_FORMULA_H_
#define SWITCHBOARD_TOOLS_PLAN_MEMORY_FORMULA_H_

#include <cstddef>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/tools/plan/arena.h"
#include "switchboard/tools/plan/plan.h"

namespace sb::plan {

// As DeviceMemory, for all values that the symbols may have. Put numbers in by ShapeEnv::evaluate:
// `peak_bytes` and `arena.lower_bound` then are those of a plan at these sizes, and the offsets a
// place for each of its storages.
struct MemoryFormula {
  struct Moment {
    SymInt bytes;
    size_t op = 0;  // the first call during which they are needed
  };

  Device device;
  SymInt peak_bytes;
  // What it is the largest of: moments of which none is never above another, in the order of the
  // calls.
  std::vector<Moment> moments;
  std::vector<size_t> arena_storages;  // indices of Plan::storages
  SymArena arena;                      // one block for each, in the same order
};

// Records no guard: a moment that is not known to be below another stays.
MemoryFormula memory_formula_on(const Plan& plan, Device device);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_MEMORY_FORMULA_H_
