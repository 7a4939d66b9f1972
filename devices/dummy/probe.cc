#include "switchboard/devices/dummy/probe.h"

#include <mutex>

#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/allocator.h"
#include "switchboard/devices/dummy/memory.h"
#include "switchboard/devices/fallback_stats.h"

namespace sb::dummy {
namespace {

struct Counts {
  std::mutex mutex;
  CallCounts kernels;
};
Counts& counts() {
  static Counts& counts = *new Counts;  // never destroyed
  return counts;
}

void increment(CallCounts* counts, std::string_view op) {
  auto found = counts->find(op);
  if (found == counts->end()) found = counts->emplace(op, 0).first;
  ++found->second;
}

}  // namespace

CallCounts fallback_counts() {
  CallCounts counts;
  for (const auto& [op, stats] : fallback_stats(DeviceType::PrivateUse1)) counts[op] = stats.calls;
  return counts;
}

CallCounts kernel_counts() {
  std::lock_guard<std::mutex> lock(counts().mutex);
  return counts().kernels;
}

void reset_counts() {
  reset_fallback_stats(DeviceType::PrivateUse1);
  std::lock_guard<std::mutex> lock(counts().mutex);
  counts().kernels.clear();
}

const AllocationStats& allocation_stats(int8_t index) {
  return device_allocator(resolve_device(Device(DeviceType::PrivateUse1, index)).index).stats();
}

bool is_sealed(const Tensor& tensor) {
  return tensor.storage() && DeviceMemory::sealing() &&
         DeviceMemory::open_count(tensor.storage()->data()) == 0;
}

namespace internal {

void count_kernel(std::string_view op) {
  std::lock_guard<std::mutex> lock(counts().mutex);
  increment(&counts().kernels, op);
}

}  // namespace internal
}  // namespace sb::dummy
