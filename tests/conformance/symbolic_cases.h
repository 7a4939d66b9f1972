// Cases of one operator call with sizes that are symbols.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_CASES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_CASES_H_

#include <cstdint>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/json_values.h"
#include "switchboard/tests/conformance/outcome.h"

namespace sb::conformance {

// Whether symbols have the sizes of the case at hand, or stand for what only data will tell.
enum class Symbols : uint8_t { Backed, Unbacked };

// Calls the case's operator on fake tensors of which every size of 2 or more is a symbol: of its
// own, or, unbacked, one for each class of sizes, stated to be at least 2. It must not fail, and
// must pin no size for which the case has another value (`varies`). At every binding the guards
// must hold, and dtypes, size and stride expressions of the results must give what is recorded;
// strides of dimensions of size 1, and of tensors without elements, mean nothing. Skipped: what
// PyTorch refuses or pins too, operators and dtypes that do not exist here.
Outcome run_symbolic_case(const Json& json, Symbols symbols,
                          const Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_CASES_H_
