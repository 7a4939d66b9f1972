// The kernels that calls came to, each described once.

#ifndef SWITCHBOARD_IO_RECORDING_SITE_TABLE_H_
#define SWITCHBOARD_IO_RECORDING_SITE_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

// A kernel of an operator, for calls with one set of keys.
struct CallSite {
  const OperatorEntry* op = nullptr;
  DispatchKeySet keys;
  Kernel kernel;
  uint32_t generation = 0;
  OperatorName name;
  uint32_t index = 0;  // in the order in which they were found
  bool written_down = false;
  bool seeded = false;
  uint32_t num_arguments = 0, num_results = 0;
  absl::InlinedVector<uint32_t, 2> written;  // arguments that the schema says are written to
  std::string schema, where, reason;
};

// Of one thread.
class SiteTable {
 public:
  CallSite& find(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) {
    const uint64_t hash = reinterpret_cast<uintptr_t>(&op) / 16 + keys.bits() * 0x9e3779b97f4a7c15;
    CallSite*& recent = recent_[(hash ^ hash >> 32) % recent_.size()];
    if (!recent || !is_of(*recent, op, keys, kernel)) [[unlikely]]
      recent = &find_slow(op, keys, kernel);
    return *recent;
  }

 private:
  static bool is_of(const CallSite& site, const OperatorEntry& op, DispatchKeySet keys,
                    const Kernel& kernel);
  CallSite& find_slow(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel);

  std::array<CallSite*, 256> recent_{};
  absl::flat_hash_map<std::pair<const OperatorEntry*, uint64_t>, CallSite*> sites_;
  std::vector<std::unique_ptr<CallSite>> all_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_SITE_TABLE_H_
