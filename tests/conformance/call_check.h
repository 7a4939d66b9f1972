// One operator call of a case: what it takes to make it, and whether it did as recorded. What the
// kinds of cases that call operators have in common.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_CALL_CHECK_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_CALL_CHECK_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/arguments.h"
#include "switchboard/tests/conformance/compare.h"

namespace sb::conformance {

// A call that is ready to be made: `place.call(op, arguments.positional, arguments.keyword)`.
struct CaseCall {
  OperatorHandle op;
  Arguments arguments;
};

// Reads `op`, `args` and `kwargs` of a case, or of a program's step. Throws MalformedCase, and
// Unsupported: for operators that are not registered, dtypes and devices that do not exist, and
// lazy bits that no kernel resolves.
CaseCall prepare_call(const Json& json, Place& place, const Dispatcher& dispatcher,
                      const KnownTensors& known = KnownTensors());

// Whether an operator says with its error that it cannot do without elements.
bool depends_on_data(const Error& error);

// What `run` gives. What it throws becomes an outcome: skipped for Unsupported, else failed.
Outcome outcome_of(absl::FunctionRef<Outcome()> run);

// Checks the results and the arguments of one call. Made before the call; keeps references.
class CallCheck {
 public:
  CallCheck(const Json& json, Place& place, const Arguments& arguments);

  // What the call returned, against `returns`.
  Difference results(const std::vector<IValue>& actual);
  // The arguments after a call that may have written to those that `mutated` names.
  Difference arguments();

 private:
  size_t index_of(const std::string& path) const;
  Difference argument(const TensorSpec& spec, const Tensor& tensor);
  Difference result(const std::string& where, const Json& expected, const IValue& actual);
  Difference tensors(const std::string& where, const Json& expected, const IValue& actual);
  Difference tensor(const Json& json, const Tensor& tensor);
  // Whose storage the result has, and whose not.
  Difference relations(const TensorSpec& spec, const Tensor& tensor);

  const Json& json_;
  Place& place_;
  const Arguments& arguments_;
  std::vector<TensorState> before_;
  std::vector<std::pair<std::optional<int64_t>, Tensor>> new_results_;
  Tolerance tolerance_;
  bool values_ = true;
};

// The `tol` of a case; exact where it has none.
Tolerance read_tolerance(const Json& json);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_CALL_CHECK_H_
