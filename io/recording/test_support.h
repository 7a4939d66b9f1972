// What tests of recordings share.

#ifndef SWITCHBOARD_IO_RECORDING_TEST_SUPPORT_H_
#define SWITCHBOARD_IO_RECORDING_TEST_SUPPORT_H_

#include <string>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/record.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/recording/replay.h"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::io {

using Elements = RecordingOptions::Elements;

// What a recording of `program` holds.
template <class F>
RecordedRun record(F&& program, const RecordingOptions& options = {}) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.sbr";
  Recording recording(path, options);
  program();
  recording.close();
  return read_recording(path);
}

// What the replay of a program says: nothing, if everything was the same.
template <class F>
std::string replayed(F&& program) {
  const RecordedRun run = record(program, {.elements = Elements::Inputs});
  const TemporaryFolder folder;
  const Replay again = replay(run, folder / "again.sbr");
  if (!again.stopped.empty()) return again.stopped;
  if (again.difference) return to_string(run, again.run, *again.difference);
  return again.calls > 0 ? "" : "no call was made again";
}

// "  CPU aten::add.Tensor(...) -> ...", indented by depth.
inline std::vector<std::string> lines(const RecordedRun& run) {
  std::vector<std::string> lines;
  for (const RecordedEvent& event : run.events)
    lines.push_back(str_cat(std::string(2 * event.depth, ' '), run.site(event).key, " ",
                            to_string(run, event)));
  return lines;
}

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_TEST_SUPPORT_H_
