#include "switchboard/tools/plan/plan.h"

#include <algorithm>
#include <tuple>

namespace sb::plan {

std::vector<SymInt> live_bytes_on(const Plan& plan, Device device) {
  std::vector<SymInt> bytes(plan.ops.size() + 1, 0), leaving(plan.ops.size() + 2, 0);
  for (const PlannedStorage& storage : plan.storages) {
    if (storage.device != device) continue;
    bytes[storage.born] += storage.bytes;
    leaving[storage.dies] += storage.bytes;
  }
  for (size_t i = 1; i < bytes.size(); ++i) bytes[i] += bytes[i - 1] - leaving[i];
  return bytes;
}

CallCost Plan::total() const {
  CallCost sum;
  sum.counted = true;
  for (const PlannedOp& op : ops) sum = sum + op.cost;
  return sum;
}

std::map<std::string, size_t> Plan::not_counted() const {
  std::map<std::string, size_t> calls;
  for (const PlannedOp& op : ops)
    if (!op.cost.counted) ++calls[op.name];
  return calls;
}

std::vector<Device> Plan::devices() const {
  std::vector<Device> devices;
  for (const PlannedStorage& storage : storages)
    if (storage.bytes.maybe_int() != 0 &&
        std::ranges::find(devices, storage.device) == devices.end())
      devices.push_back(storage.device);
  return devices;
}

std::vector<OpTotal> totals_by_op(const Plan& plan) {
  std::map<std::string, OpTotal> by_name;
  for (const PlannedOp& op : plan.ops) {
    const auto [found, fresh] = by_name.try_emplace(op.name, OpTotal{op.name, 0, op.cost});
    ++found->second.calls;
    if (!fresh) found->second.cost = found->second.cost + op.cost;
  }
  std::vector<OpTotal> totals;
  for (auto& [name, total] : by_name) totals.push_back(std::move(total));
  std::ranges::stable_sort(totals, std::greater<>(), [](const OpTotal& total) {
    return std::pair(total.cost.flops.at_hand(),
                     (total.cost.bytes_read + total.cost.bytes_written).at_hand());
  });
  return totals;
}

DeviceMemory memory_on(const Plan& plan, Device device) {
  DeviceMemory memory;
  memory.device = device;
  for (const SymInt& bytes : live_bytes_on(plan, device))
    memory.live_bytes.push_back(bytes.expect_int());
  const auto peak = std::ranges::max_element(memory.live_bytes);
  memory.peak_bytes = *peak;
  memory.peak_op = static_cast<size_t>(peak - memory.live_bytes.begin());

  std::vector<ArenaBlock> blocks;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const PlannedStorage& storage = plan.storages[i];
    const int64_t bytes = storage.device == device ? storage.bytes.expect_int() : 0;
    if (bytes == 0) continue;
    if (!storage.is_input) {
      memory.arena_storages.push_back(i);
      blocks.push_back({bytes, storage.born, storage.dies});
    } else if (storage.born <= memory.peak_op && memory.peak_op < storage.dies) {
      memory.inputs_at_peak += bytes;
    }
  }
  memory.arena = plan_arena(blocks);
  return memory;
}

std::vector<DeviceMemory> memory_by_device(const Plan& plan) {
  std::vector<DeviceMemory> memories;
  for (const Device device : plan.devices()) memories.push_back(memory_on(plan, device));
  return memories;
}

}  // namespace sb::plan
