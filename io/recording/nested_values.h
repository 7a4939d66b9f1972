// What the calls that kernels make give to a replay.

#ifndef SWITCHBOARD_IO_RECORDING_NESTED_VALUES_H_
#define SWITCHBOARD_IO_RECORDING_NESTED_VALUES_H_

#include <cstdint>
#include <exception>
#include <vector>

#include "switchboard/dispatch/slow_call.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/recorded_values.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

// Sees the calls that are made while one is made again, and remembers their tensors: a later call
// of the program may take one that no call of the program gave, as backward does.
class NestedValues final : public CallObserver {
 public:
  // `root`: the event that is made again. `next` is told of all calls, too.
  NestedValues(const RecordedRun& run, const CallTree& calls, uint32_t root, RecordedValues* values,
               CallObserver* next)
      : run_(run), calls_(calls), root_(root), values_(*values), next_(next) {}

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override;
  void leave(const OperatorEntry& op, DispatchKeySet keys) override;

 private:
  // Where other calls are made than were recorded, the event is none.
  struct Running {
    uint32_t event;
    size_t children = 0;
  };
  uint32_t next_event();
  void note_arguments(uint32_t event);
  void note_results(uint32_t event);

  const RecordedRun& run_;
  const CallTree& calls_;
  const uint32_t root_;
  RecordedValues& values_;
  CallObserver* const next_;
  const int exceptions_ = std::uncaught_exceptions();
  std::vector<Running> running_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_NESTED_VALUES_H_
