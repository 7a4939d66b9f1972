// For tests: what the device did.

#ifndef SWITCHBOARD_DEVICES_DUMMY_PROBE_H_
#define SWITCHBOARD_DEVICES_DUMMY_PROBE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/tensor.h"

namespace sb::dummy {

// Calls since the last reset, by operator ("aten::mm"): those that the CPU fallback served
// (devices/fallback_stats.h says more of them), and those that a kernel of the device's own did. A
// kernel that leaves a call to the fallback counts there. Thread-safe, as everything here.
using CallCounts = std::map<std::string, int64_t, std::less<>>;
CallCounts fallback_counts();
CallCounts kernel_counts();
void reset_counts();

// The bytes in use on one device. RuntimeError unless it exists.
const AllocationStats& allocation_stats(int8_t index);

// Returns whether the tensor's memory is the device's and closed to host code.
bool is_sealed(const Tensor& tensor);

namespace internal {
// For the device itself.
void count_kernel(std::string_view op);
}  // namespace internal

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_PROBE_H_
