// The most bytes that were allocated at one time since some moment.

#ifndef SWITCHBOARD_TOOLS_PEAK_MEMORY_H_
#define SWITCHBOARD_TOOLS_PEAK_MEMORY_H_

#include <cstdint>

#include "switchboard/core/memory/allocator.h"

namespace sb::tools {

// Counts from what is allocated when it is made. One at a time for each AllocationStats, as it
// resets the peak.
class PeakMemory {
 public:
  explicit PeakMemory(AllocationStats& stats) : stats_(stats), start_(stats.current_bytes()) {
    stats_.reset_peak();
  }
  int64_t bytes() const { return stats_.peak_bytes() - start_; }

 private:
  AllocationStats& stats_;
  int64_t start_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PEAK_MEMORY_H_
