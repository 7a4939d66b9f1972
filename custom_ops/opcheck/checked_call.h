// The call that is checked, and what a run of it left.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_CHECKED_CALL_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_CHECKED_CALL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/opcheck.h"

namespace sb::internal {

// A tensor of an argument or a result. Lists have one for each element.
struct NamedTensor {
  std::string name;  // "argument 0 'x'", "argument 1 'list', element 2", "result 0"
  Tensor tensor;     // defined
  bool is_written = false;
};

// The arguments that a call was given, as it left them, and its results.
struct Run {
  const FunctionSchema* schema;
  Stack arguments;
  Stack results;

  std::vector<NamedTensor> argument_tensors() const;
  std::vector<NamedTensor> result_tensors() const;
};

// Fresh arguments: tensors in fresh memory, with the same sizes, strides, offsets, elements and
// gaps; what shared memory shares it again, and what was one tensor is one. Those that required a
// gradient are leaves that do, unless `keep_grad` is false.
Stack copy_arguments(const Stack& arguments, bool keep_grad = true);
// The same for a call with this schema. A leaf that requires a gradient must not be written to, so
// such arguments are given as a program has them: computed from a leaf.
Stack copy_arguments(const Stack& arguments, const FunctionSchema& schema);

struct CheckedCall {
  OperatorHandle op;
  Stack arguments;  // one for each of the schema's; operators get copies
  const OpCheckOptions& options;

  const FunctionSchema& schema() const { return op.schema(); }
  std::string name() const { return op.name().to_string(); }
  // Calls the operator on copies, of which those that are written to are no leaves.
  Run run(bool keep_grad = true) const;
  // On these very arguments.
  Run run_on(Stack given) const;
  std::vector<NamedTensor> tensors() const;
  bool any_requires_grad() const;
  // Returns whether some tensor is written to.
  bool writes() const;
  // The reason why nobody can say what the call's writes leave: elements that are written to
  // overlap, those of one tensor or of two. "" if they do not.
  std::string unordered_writes() const;
  // Returns whether tags say that the results may differ from one call to the next; `bitwise`: in
  // the last bits, too.
  bool is_random(bool bitwise) const;
};

// The finding of a check.
struct Finding {
  OpCheckResult::Outcome outcome = OpCheckResult::Outcome::Passed;
  std::string message;
};
inline Finding passed() { return {}; }
template <class... Parts>
Finding skipped(const Parts&... parts) {
  return {OpCheckResult::Outcome::Skipped, str_cat(parts...)};
}
template <class... Parts>
Finding failed(const CheckedCall& call, const Parts&... parts) {
  return {OpCheckResult::Outcome::Failed, str_cat(call.name(), ": ", parts...)};
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_CHECKED_CALL_H_
