// The table behind CostTable::standard().

#ifndef SWITCHBOARD_TOOLS_PLAN_FLOP_FORMULAS_H_
#define SWITCHBOARD_TOOLS_PLAN_FLOP_FORMULAS_H_

#include "switchboard/tools/plan/op_cost.h"

namespace sb::plan::internal {

CostTable make_standard_costs();

}  // namespace sb::plan::internal

#endif  // SWITCHBOARD_TOOLS_PLAN_FLOP_FORMULAS_H_
