// A recorded run made again, without the program that made it.

#ifndef SWITCHBOARD_IO_RECORDING_REPLAY_H_
#define SWITCHBOARD_IO_RECORDING_REPLAY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/io/recording/diff.h"
#include "switchboard/io/recording/record.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

struct Replay {
  uint64_t calls = 0;  // that the program made, and the replay made again
  RecordedRun run;     // what happened
  // Which event of the recording each event of `run` is, as long as they do not differ.
  std::vector<uint32_t> origin;
  // Where that differs from the recording; nullopt if every call went to the same kernel at every
  // key and gave the same bits.
  std::optional<RunDifference> difference;
  // Why the replay ended before the recording did, and at which event: an argument that no file
  // holds, an operator that is not here, an error. Empty if it did not.
  std::string stopped;
  uint32_t stopped_at = RecordedEvent::kNone;
};

// Makes the calls of the program again, in their order and all on this thread, with the tensors
// that the recording holds (Elements::Inputs) and those that the calls give, under the same keys,
// gradient mode and random state, and compares what happens at every key. Calls under a mode of the
// program's own are made below it; fake tensors are made by a fake mode. The file `path` gets the
// recording of it, with all elements if `options` say so.
Replay replay(const RecordedRun& run, const std::string& path, const RunDiffOptions& options = {},
              RecordingOptions::Elements elements = RecordingOptions::Elements::Hashes);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_REPLAY_H_
