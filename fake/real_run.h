// The program itself, beside the fake run.

#ifndef SWITCHBOARD_FAKE_REAL_RUN_H_
#define SWITCHBOARD_FAKE_REAL_RUN_H_

#include <vector>

#include "absl/types/span.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

class FakeMode;
struct FakeOp;

// As `propagate_real_tensors`: where all fake arguments of a call know their real tensors, it runs
// on these too, with all modes off, symbols being what they are at hand. Each fake result then
// knows its real tensor, and each symbol that stands for data its value.
class RealRun {
 public:
  RealRun() = default;
  // Runs the call whose arguments are on the end of the stack. Throws what the operator throws.
  // Where it cannot run, the tensors that it writes to are no longer known.
  RealRun(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts, const Stack& stack);

  bool has_run() const { return has_run_; }
  const std::vector<IValue>& results() const { return results_; }

  // Tells the fake results, in the order of the operator's.
  void give(absl::Span<const IValue> fake) const;

 private:
  std::vector<IValue> results_;
  bool has_run_ = false;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_REAL_RUN_H_
