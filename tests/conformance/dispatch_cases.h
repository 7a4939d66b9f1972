// Cases of registrations, removals and calls, each in a Dispatcher of its own.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_DISPATCH_CASES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_DISPATCH_CASES_H_

#include "switchboard/tests/conformance/json_values.h"

namespace sb::conformance {

// Runs the steps of a case in order, up to the first that does not do as expected.
Outcome run_dispatch_case(const Json& json);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_DISPATCH_CASES_H_
