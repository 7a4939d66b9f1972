#include "switchboard/tests/conformance/replayed.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/diff.h"
#include "switchboard/io/recording/record.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/recording/replay.h"

namespace sb::conformance {
namespace {

// A file that goes with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const char* name)
      : path_((std::filesystem::temp_directory_path() / str_cat(name, ::getpid())).string()) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Outcome replayed(const std::function<Outcome()>& run) {
  const TemporaryFile first("sb_case_"), second("sb_case_again_");
  Recording recording(first.path(), {.elements = RecordingOptions::Elements::Inputs});
  Outcome outcome = run();
  recording.close();
  if (outcome.kind != Outcome::Kind::Passed) return outcome;
  const io::RecordedRun recorded = io::read_recording(first.path());
  if (!recorded.fault.empty()) return Outcome::failed(recorded.fault);
  const io::Replay again = io::replay(recorded, second.path());
  if (again.difference) {
    return Outcome::failed(
        str_cat("made again: ", io::to_string(recorded, again.run, *again.difference)));
  }
  if (!again.stopped.empty()) return Outcome::refused(str_cat("made again: ", again.stopped));
  return outcome;
}

}  // namespace sb::conformance
