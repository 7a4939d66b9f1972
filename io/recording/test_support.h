// What tests of recordings share.

#ifndef SWITCHBOARD_IO_RECORDING_TEST_SUPPORT_H_
#define SWITCHBOARD_IO_RECORDING_TEST_SUPPORT_H_

#include <string>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/record.h"
#include "switchboard/io/recording/recording.h"
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
