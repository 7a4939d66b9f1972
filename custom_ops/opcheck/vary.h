// Plans of arguments that differ from a plan in one thing.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_VARY_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_VARY_H_

#include <vector>

#include "switchboard/custom_ops/opcheck/argument_plan.h"

namespace sb::internal {

// In a fixed order: other sizes, strides, offsets, dtypes, sharing of memory, numbers, gradients.
// They may not make sense to the operator, which then refuses them.
std::vector<ArgumentPlan> variations(const FunctionSchema& schema, const ArgumentPlan& plan);

// Simpler in one thing: what is tried first leaves out most.
std::vector<ArgumentPlan> simplifications(const FunctionSchema& schema, const ArgumentPlan& plan);
// Goes down with each simplification.
double complexity(const FunctionSchema& schema, const ArgumentPlan& plan);

// Changes sizes of all tensors: each dimension of size `from` becomes one of size `to`, and with
// `lists`, so does each such number in lists of numbers.
void replace_size(ArgumentPlan* plan, int64_t from, int64_t to, bool lists);
// The sizes that dimensions have, the largest first.
std::vector<int64_t> distinct_sizes(const ArgumentPlan& plan);
// Gives the elements of that dtype another one; what cannot require a gradient then does not.
void replace_dtype(ArgumentPlan* plan, DType from, DType to);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_VARY_H_
