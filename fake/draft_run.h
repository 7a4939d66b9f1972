// A run on an example that goes on where a plain fake run would stop, and tells at the end what to
// mend.

#ifndef SWITCHBOARD_FAKE_DRAFT_RUN_H_
#define SWITCHBOARD_FAKE_DRAFT_RUN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/fake/draft_log.h"
#include "switchboard/fake/fake_tensor_mode.h"

namespace sb {

// A fake run with the program itself beside it, on the data of an example. An answer that depends
// on data is that of the example; results of an operator whose fake rule is missing, or gives
// something else than the operator, are like the example's, of sizes that only data tells. Each is
// a finding. What the example's answers stated holds for the rest of the run, and is a run-time
// check (ShapeEnv::runtime_asserts). As `torch.export._draft_export.draft_export`.
//
//   DraftRun draft;
//   const Tensor x = draft.from_tensor(example, {.source = "x"});
//   {
//     FakeTensorModeGuard active(draft.mode());
//     program(x);
//   }
//   std::cout << draft.report();
//
// Without findings, a plain run of the program records the same guards. What the program itself
// throws on the example, it throws here. The example is not written to. For one thread at a time.
class DraftRun {
 public:
  // Of the settings, on_settle and on_data_dependent are the run's own.
  explicit DraftRun(ShapeEnvSettings settings = {});

  const FakeTensorMode& mode() const { return mode_; }
  ShapeEnv& shape_env() const { return *env_; }
  Tensor from_tensor(const Tensor& example, const FromTensorOptions& how = {}) {
    return mode_.from_tensor(example, how);
  }

  // Missing and wrong rules in the order of the calls, then what was not stated, then sizes that
  // were settled.
  std::vector<DraftFinding> findings() const;
  // The same for readers: a finding a line, and the line that mends it below. Says so where there
  // is none.
  std::string report() const;
  // Of the operators with missing or wrong rules: unsafe_generate_fake_kernels() takes them.
  const std::map<std::string, std::vector<OpProfile>>& profiles() const { return log_->profiles(); }

 private:
  IntrusivePtr<ShapeEnv> env_;
  IntrusivePtr<DraftLog> log_;
  FakeTensorMode mode_;
};

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_DRAFT_RUN_H_
