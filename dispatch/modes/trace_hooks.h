// What operators tell the trace that runs, where a program links one.

#ifndef SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_
#define SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_

#include <string_view>

#include "switchboard/core/tensor.h"

namespace sb::internal {

struct TraceHooks {
  // `copy` was made of `self` where `op` gives self itself, or a view of it, for some sizes that
  // only data tell: for 0 and 1. A graph has the copy for all of them, so that where the program
  // could tell, these sizes are stated to be others.
  void (*maybe_one_tensor)(const Tensor& self, const Tensor& copy, std::string_view op) =
      [](const Tensor&, const Tensor&, std::string_view) {};
  // `op` is about to give a view of self or a copy, by how self lies in memory.
  void (*decides_by_layout)(const Tensor& self, std::string_view op) = [](const Tensor&,
                                                                          std::string_view) {};
};

inline constexpr TraceHooks kNoTraceHooks;
// Set while the program starts.
inline constinit const TraceHooks* trace_hooks = &kNoTraceHooks;

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_
