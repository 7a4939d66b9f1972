// Cases of one operator call: its results, or its error.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_OPS_CASES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_OPS_CASES_H_

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {

// Calls the case's operator in the place and compares results, aliasing, what was written to and
// what must not have been. A case with `raises` must fail with that kind of error and change
// nothing. Skipped: operators without a schema, dtypes and devices that do not exist, lazy
// conjugates that no kernel resolves, and, in places without data, operators that are tagged as
// depending on it.
Outcome run_ops_case(const Json& json, Place& place,
                     const Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_OPS_CASES_H_
