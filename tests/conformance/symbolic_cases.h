// Cases of one operator call with sizes that are symbols.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_CASES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_CASES_H_

#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/json_values.h"
#include "switchboard/tests/conformance/outcome.h"

namespace sb::conformance {

// The ways in which a case is run:
//   symbolic                 every size of 2 or more is a symbol of its own, with the size at hand
//   backward                 the same, and then the gradients of all floating-point arguments
//   unbacked                 sizes that only data will tell: a symbol for each class of sizes,
//                            stated to be at least 2
//   unbacked_bare            the same with nothing stated
//   unbacked_first, unbacked_first_bare
//                            only the first class is such a symbol, the other sizes are at hand
//   symbolic_traced, backward_traced
//                            a graph, which runs with other sizes: see symbolic_traced.h
std::vector<std::string> symbolic_way_names();

// Calls the case's operator on fake tensors of such sizes. It must not fail, and must pin no size
// for which the case has another value (`varies`). At every binding the guards must hold, and
// dtypes, size and stride expressions of the results must give what is recorded, and so must the
// sizes of gradients; strides of dimensions of size 1, and of tensors without elements, mean
// nothing. So it is, too, in ways that were not recorded. Skipped: what both refuse or pin,
// gradients that neither has, operators and dtypes that do not exist here.
Outcome run_symbolic_case(const Json& json, const std::string& way,
                          const Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_CASES_H_
