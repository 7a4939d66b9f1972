// Cases of gradients: of one operator call, and of a program of several.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_GRADS_CASES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_GRADS_CASES_H_

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {

// Makes leaves of the tensors that `grads` names, or of all inputs of a program, makes the calls,
// compares what they return as operator cases do (of a program, dtype, shape and elements of its
// outputs), goes backward from the outputs with `grad_outputs`, and compares the gradients. An
// output whose `grad_outputs` is null must not require a gradient, and a tensor that `grads` does
// not name must have got none. Skipped: the same as of operator cases.
Outcome run_grads_case(const Json& json, Place& place,
                       const Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_GRADS_CASES_H_
