// Cases made again from a recording of them.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_REPLAYED_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_REPLAYED_H_

#include <functional>

#include "switchboard/tests/conformance/outcome.h"

namespace sb::conformance {

// Runs a case and records its calls. If it passes, makes them again from the recording alone: it
// fails where a call goes to another kernel at any key, or gives other bits; it is refused where a
// recording cannot hold an argument.
Outcome replayed(const std::function<Outcome()>& run);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_REPLAYED_H_
