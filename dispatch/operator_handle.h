// A reference to one operator, by which it is called boxed.

#ifndef SWITCHBOARD_DISPATCH_OPERATOR_HANDLE_H_
#define SWITCHBOARD_DISPATCH_OPERATOR_HANDLE_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

class OperatorEntry;

// One word, cheap to copy, valid as long as its dispatcher. After its operator was removed every
// use but name() throws NotImplementedError.
class OperatorHandle {
 public:
  explicit OperatorHandle(OperatorEntry* entry) : entry_(entry) {}

  const OperatorName& name() const;
  const FunctionSchema& schema() const;
  OperatorEntry& entry() const { return *entry_; }
  bool operator==(const OperatorHandle&) const = default;

  // Calls the operator with one value for every argument on the end of the stack, in the schema's
  // order; they are replaced by the results. Values must already be of the schema's types
  // (bind_arguments makes them so): kernels throw TypeError for those that are not.
  void call_boxed(Stack* stack) const;
  // Enters the operator at the highest key of exactly `keys`: neither the thread's sets nor
  // fallthroughs are looked at. Entering a fallthrough is an error.
  void redispatch_boxed(DispatchKeySet keys, Stack* stack) const;

  // For users and tools: binds positional and named arguments (bind_arguments), calls, and gives
  // the results.
  Arguments call(std::vector<IValue> positional,
                 std::vector<std::pair<std::string, IValue>> keyword = {}) const;

 private:
  OperatorEntry* entry_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OPERATOR_HANDLE_H_
