// Counts what the CPU fallback did: calls, bytes and time, operator by operator.

#ifndef SWITCHBOARD_DEVICES_FALLBACK_STATS_H_
#define SWITCHBOARD_DEVICES_FALLBACK_STATS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "switchboard/core/device.h"

namespace sb {

struct FallbackStats {
  int64_t calls = 0;           // also those that failed; not those that fallback_policy.h refused
  int64_t bytes_to_cpu = 0;    // of whole storages of the arguments, also where a view is small
  int64_t bytes_from_cpu = 0;  // of results, and of arguments that were written
  // From the call to its end: both ways, and the CPU's kernel. Calls that run at once add up.
  std::chrono::nanoseconds time{0};

  FallbackStats& operator+=(const FallbackStats& other);
};

// By the operator's name, overload included: "aten::add.Tensor".
using FallbackStatsByOp = std::map<std::string, FallbackStats, std::less<>>;

// Of all threads' calls since the last reset, for devices of a type. A call counts when it ends.
// Thread-safe, as everything here.
FallbackStatsByOp fallback_stats(DeviceType type);
void reset_fallback_stats(DeviceType type);

namespace internal {
// For cpu_fallback: one lock and one look-up.
void add_fallback_stats(DeviceType type, std::string_view op, const FallbackStats& stats);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_FALLBACK_STATS_H_
