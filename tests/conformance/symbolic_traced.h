// Cases of one operator call with sizes that are symbols, as graphs that run with other sizes.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_TRACED_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_TRACED_H_

#include <cstdint>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/json_values.h"
#include "switchboard/tests/conformance/outcome.h"

namespace sb::conformance {

// Whether the program that is traced computes the gradients of the call, too.
enum class Gradients : uint8_t { No, Yes };

// The case's call is traced on fake tensors whose sizes of 2 or more are symbols, and the graph
// runs on real tensors of the case's own sizes and of those of each binding: it gives, and writes,
// what the call itself does. It may refuse sizes that the guards refuse. Of random results, and of
// memory that nobody wrote to, sizes count alone. Skipped: what cannot be traced, which the way
// `symbolic` judges, and operators and dtypes that do not exist here.
Outcome run_traced_symbolic_case(const Json& json, const OperatorHandle& op, Gradients gradients,
                                 const Dispatcher& dispatcher);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_TRACED_H_
