#include "switchboard/tools/plan/memory_formula.h"

#include "switchboard/tools/plan/expression_order.h"

namespace sb::plan {

MemoryFormula memory_formula_on(const Plan& plan, Device device) {
  MemoryFormula memory;
  memory.device = device;
  const std::vector<SymInt> live = live_bytes_on(plan, device);
  ExpressionOrder order;
  std::vector<SymInt> largest;
  for (const size_t op : order.candidates(live)) {
    memory.moments.push_back({live[op], op});
    largest.push_back(live[op]);
  }
  memory.peak_bytes = order.largest(largest);

  std::vector<SymArenaBlock> blocks;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const PlannedStorage& storage = plan.storages[i];
    if (storage.device != device || storage.is_input || storage.bytes.maybe_int() == 0) continue;
    memory.arena_storages.push_back(i);
    blocks.push_back({storage.bytes, storage.born, storage.dies});
  }
  memory.arena = plan_symbolic_arena(blocks);
  return memory;
}

}  // namespace sb::plan
