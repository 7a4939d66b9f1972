// The fake rule of operators whose schema tells their results.

#ifndef SWITCHBOARD_FAKE_TRIVIAL_RULE_H_
#define SWITCHBOARD_FAKE_TRIVIAL_RULE_H_

#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// Puts the results of a call on fake tensors in the place of its arguments, for an operator that
//
// - writes and returns nothing,
// - is tagged inplace: its first argument,
// - is tagged out: its out= arguments, in their order.
//
// Returns false, and does nothing, for others. Such an operator does not change what its arguments
// are, but only what is in them. As `can_generate_trivial_fake_impl`.
bool run_trivial_rule(const OperatorHandle& op, Stack* stack);
// Whether it would.
bool has_trivial_rule(const OperatorHandle& op);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_TRIVIAL_RULE_H_
