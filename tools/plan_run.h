// Runs a program below a Planner.

#ifndef SWITCHBOARD_TOOLS_PLAN_RUN_H_
#define SWITCHBOARD_TOOLS_PLAN_RUN_H_

#include <map>

#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/io/exported/program.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/plan/plan.h"
#include "switchboard/tools/run_place.h"

namespace sb::tools {

// What the sizes are that a program leaves open: numbers, or symbols of an environment.
struct PlanSizes {
  io::SymbolValues values;                      // by the file's names, and those in `opened`
  IntrusivePtr<ShapeEnv> env = nullptr;         // of symbols; for fake places alone
  std::map<size_t, io::ValueMeta> opened = {};  // inputs that have other sizes than in the file
};

// Modes of others that stand come below the planner's. Throws what the program throws, with the
// place of its node.
plan::Plan plan_on(const RunPlace& place, const RunPlan& run, const PlanSizes& sizes);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PLAN_RUN_H_
