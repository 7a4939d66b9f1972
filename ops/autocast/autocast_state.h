// The autocast of a thread as a value: for functions that backward runs again.

#ifndef SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_STATE_H_
#define SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_STATE_H_

#include <vector>

#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/dispatch_tls.h"

namespace sb {

// For which device types autocast is on, and in which dtypes.
struct AutocastState {
  DispatchKeySet on;
  std::vector<DType> dtypes;

  // That of this thread.
  static AutocastState now();
};

// Makes it that of this thread for a scope.
class AutocastStateGuard {
 public:
  explicit AutocastStateGuard(const AutocastState& state);
  ~AutocastStateGuard();
  AutocastStateGuard(const AutocastStateGuard&) = delete;
  AutocastStateGuard& operator=(const AutocastStateGuard&) = delete;

 private:
  const std::vector<DType> outer_dtypes_;
  const UnexcludeKeysGuard on_;
  const ExcludeKeysGuard off_;
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_AUTOCAST_AUTOCAST_STATE_H_
