// What pages of plans, of numbers and of symbols, call things.

#ifndef SWITCHBOARD_TOOLS_PLAN_PLAN_TEXT_H_
#define SWITCHBOARD_TOOLS_PLAN_PLAN_TEXT_H_

#include <cstddef>
#include <string>

#include "switchboard/tools/plan/plan.h"

namespace sb::plan {

// Labels and names may come from a file that nobody vouches for: they neither rewrite a terminal
// nor flood it.
std::string shown(const std::string& text);
// What the storage is: the name of an input, or the call that made it.
std::string origin_of(const Plan& plan, const PlannedStorage& storage);
// The calls during which it is there: "3-7"; "3-" where it outlives the plan.
std::string calls_of(const PlannedStorage& storage);
// "during call 3, aten::relu (act)"; empty for what comes after the last call.
std::string during_text(const Plan& plan, size_t op);
// "not counted: aten::sort (2 times)" in a line of its own; empty if there is nothing.
std::string not_counted_text(const Plan& plan);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_PLAN_TEXT_H_
