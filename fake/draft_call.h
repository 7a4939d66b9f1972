// A call of a draft run (draft_run.h).

#ifndef SWITCHBOARD_FAKE_DRAFT_CALL_H_
#define SWITCHBOARD_FAKE_DRAFT_CALL_H_

#include "absl/functional/function_ref.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

class FakeMode;
class RealRun;

// Runs the fake call whose arguments are on the end of the stack, and tells its results what `real`
// gave. Where the run stops at a question about data, it begins again with the example's answer;
// where it fails otherwise, or gives something else than `real`, the results are made of `real`,
// and the mode's log says so. Without a real run, it is as the fake call.
void run_in_draft(FakeMode& mode, const OperatorHandle& op, const RealRun& real, Stack* stack,
                  absl::FunctionRef<void()> run);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_DRAFT_CALL_H_
