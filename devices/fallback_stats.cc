#include "switchboard/devices/fallback_stats.h"

#include <mutex>

namespace sb {
namespace {

// Of one device type. Never destroyed: operators may be called after static destruction.
struct Table {
  std::mutex mutex;
  FallbackStatsByOp by_op;
};
Table* table_of(DeviceType type) {
  static Table* const tables = new Table[kNumDeviceTypes];
  const size_t i = static_cast<size_t>(type);
  return i < kNumDeviceTypes ? &tables[i] : nullptr;
}

}  // namespace

FallbackStats& FallbackStats::operator+=(const FallbackStats& other) {
  calls += other.calls;
  bytes_to_cpu += other.bytes_to_cpu;
  bytes_from_cpu += other.bytes_from_cpu;
  time += other.time;
  return *this;
}

FallbackStatsByOp fallback_stats(DeviceType type) {
  Table* const table = table_of(type);
  if (!table) return {};
  std::lock_guard<std::mutex> lock(table->mutex);
  return table->by_op;
}

void reset_fallback_stats(DeviceType type) {
  Table* const table = table_of(type);
  if (!table) return;
  std::lock_guard<std::mutex> lock(table->mutex);
  table->by_op.clear();
}

void internal::add_fallback_stats(DeviceType type, std::string_view op,
                                  const FallbackStats& stats) {
  Table* const table = table_of(type);
  if (!table) return;
  std::lock_guard<std::mutex> lock(table->mutex);
  auto found = table->by_op.find(op);
  if (found == table->by_op.end()) found = table->by_op.emplace(op, FallbackStats()).first;
  found->second += stats;
}

}  // namespace sb
