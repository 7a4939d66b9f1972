// What a call that is observed was given, and what it gave: for observers that ask for more than
// the operator and its kernel.

#ifndef SWITCHBOARD_DISPATCH_VALUES_OBSERVED_VALUES_H_
#define SWITCHBOARD_DISPATCH_VALUES_OBSERVED_VALUES_H_

#include <utility>

#include "switchboard/dispatch/schema/typed_frame.h"

namespace sb::internal {

// One of them. Of a typed call: the arguments, and after it the results, in C++ types. Of a boxed
// one: the arguments at the end of the stack, and after it the results in their place.
struct ObservedValues {
  const TypedFrame* frame = nullptr;
  const Stack* stack = nullptr;
};

// Those of the innermost call on this thread, while observers are told that it begins or ends.
inline constinit thread_local ObservedValues observed_values;

// Shows them for a scope around that of ObservedCall.
class ShowValues {
 public:
  explicit ShowValues(const TypedFrame& frame) : ShowValues(ObservedValues{&frame, nullptr}) {}
  explicit ShowValues(const Stack* stack) : ShowValues(ObservedValues{nullptr, stack}) {}
  ~ShowValues() { observed_values = outer_; }
  ShowValues(const ShowValues&) = delete;
  ShowValues& operator=(const ShowValues&) = delete;

 private:
  explicit ShowValues(ObservedValues values) : outer_(std::exchange(observed_values, values)) {}
  ObservedValues outer_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_VALUES_OBSERVED_VALUES_H_
