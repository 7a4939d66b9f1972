// What operators tell the trace that runs, where a program links one.

#ifndef SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_
#define SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_

#include <cstdint>
#include <string_view>

#include "switchboard/core/tensor.h"

namespace sb::internal {

// What decides between a view and a copy: sizes alone, or also how the tensor lies in memory.
enum class ViewOrCopyBy : uint8_t { Sizes, Layout };

struct TraceHooks {
  // `op` has given self, a view of it, or a copy. A graph gives the same for all data, though for
  // other sizes that only data tell, or other layouts, the program gives the other. Where it could
  // tell, the trace states or refuses that.
  void (*gave_view_or_copy)(const Tensor& self, const Tensor& result, std::string_view op,
                            ViewOrCopyBy by) = [](const Tensor&, const Tensor&, std::string_view,
                                                  ViewOrCopyBy) {};
};

inline constexpr TraceHooks kNoTraceHooks;
// Set while the program starts.
inline constinit const TraceHooks* trace_hooks = &kNoTraceHooks;

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_TRACE_HOOKS_H_
