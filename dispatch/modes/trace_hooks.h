// What operators tell the trace that runs, where a program links one.

#ifndef SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_
#define SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_

#include <string_view>

#include "switchboard/core/tensor.h"

namespace sb::internal {

struct TraceHooks {
  // By how self lies in memory `op` has given self, a view of it, or a copy. A graph gives the same
  // for all data, though for other sizes that only data tell, or other layouts, the program gives
  // the other. Where it could tell, the trace states or refuses that.
  void (*gave_view_or_copy)(const Tensor& self, const Tensor& result, std::string_view op) =
      [](const Tensor&, const Tensor&, std::string_view) {};
};

inline constexpr TraceHooks kNoTraceHooks;
// Set while the program starts.
inline constinit const TraceHooks* trace_hooks = &kNoTraceHooks;

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_
