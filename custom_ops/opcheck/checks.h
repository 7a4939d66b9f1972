// The checks of opcheck; what each is for is said in opcheck.h.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_CHECKS_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_CHECKS_H_

#include <vector>

#include "switchboard/custom_ops/opcheck/checked_call.h"

namespace sb::internal {

// An exception that these throw is a failure, too: the operator, or its shape rule, threw it.
Finding check_schema(const CheckedCall& call);
Finding check_deterministic(const CheckedCall& call);
Finding check_strides(const CheckedCall& call);
Finding check_autograd(const CheckedCall& call);
Finding check_fake(const CheckedCall& call);
Finding check_aot_dispatch_static(const CheckedCall& call);
Finding check_aot_dispatch_dynamic(const CheckedCall& call);
Finding check_gradients(const CheckedCall& call);

// Runs the operator, and it throws something else than it should: an exception that is no
// sb::Error, or it leaves an argument changed; or it refuses what the fake run takes, where no
// tensor has elements that could be at fault. Passed where it does not throw. For variations of
// arguments.
Finding check_refusal(const CheckedCall& call);

// All checks that the call's options name, or those up to the first that fails. ValueError for a
// name that is none.
std::vector<OpCheckResult> make_checks(const CheckedCall& call, bool all);
// Throws ValueError, naming the argument, for a tensor without data.
void check_has_data(const CheckedCall& call);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_CHECKS_H_
