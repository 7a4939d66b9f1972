// Cases of programs that are run in several ways, each of which has an expectation.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_COMPOSITIONS_CASES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_COMPOSITIONS_CASES_H_

#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {

// Every way that there is: "eager", "grads", ...
std::vector<std::string> way_names();

// Runs the program in one of the ways that it has an expectation for: see ways.h. Refused: the
// error of a program that runs in PyTorch, if it is a NotImplementedError, or names an operator and
// the layer that cannot do it. Where PyTorch refuses, or is wrong, an error passes. Skipped:
// operators and dtypes that do not exist here, ways that do not; places without data.
Outcome run_composition_case(const Json& json, const std::string& way, Place& place,
                             const Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_COMPOSITIONS_CASES_H_
