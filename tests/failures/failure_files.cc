#include "switchboard/tests/failures/failure_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/io/recording/extract.h"
#include "switchboard/io/recording/record.h"

namespace sb::test {
namespace {

namespace fs = std::filesystem;

// Ends each call before a kernel runs.
class EndCalls final : public DispatchMode {
 public:
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override {
    SB_THROW(RuntimeError, "the call is not made");
  }
  std::string name() const override { return "EndCalls"; }
};

// A recording of the call as it begins.
io::RecordedRun record_call(const std::string& path, const OperatorHandle& op, Stack arguments) {
  Recording recording(path, {.elements = RecordingOptions::Elements::Inputs});
  EndCalls mode;
  const ModeGuard guard(&mode);
  const BelowAutogradGuard below;  // where composite kernels come after modes
  try {
    op.call_boxed(&arguments);
  } catch (const Error&) {
  }
  recording.close();
  return io::read_recording(path);
}

}  // namespace

std::string failure_folder(const std::string& chosen) {
  for (const char* name : {"TEST_UNDECLARED_OUTPUTS_DIR", "BUILD_WORKING_DIRECTORY"})
    if (const char* const folder = std::getenv(name); folder && *folder)
      return (fs::path(folder) / chosen).string();
  return (fs::current_path() / chosen).string();
}

std::string leave_file(const std::string& folder, const std::string& name, std::string_view text) {
  std::error_code ignored;  // the file says it
  fs::create_directories(folder, ignored);
  const std::string path = (fs::path(folder) / name).string();
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  SB_CHECK(file.flush(), path, ": cannot be written");
  return path;
}

std::vector<std::string> leave_call(const std::string& folder, const std::string& name,
                                    const OperatorHandle& op,
                                    const std::vector<IValue>& arguments) {
  const std::string recording = leave_file(folder, name + ".sbr", "");
  const io::RecordedRun run = record_call(recording, op, arguments);
  fs::remove(recording);
  SB_CHECK_VALUE(!run.events.empty(), op.name().to_string(), ": no kernel of the call ran");
  const io::Extract extract = io::extract_cpp(run, 0, name + ".bin");
  std::vector<std::string> paths = {leave_file(folder, name + ".cc", extract.source)};
  if (!extract.data.empty()) paths.push_back(leave_file(folder, name + ".bin", extract.data));
  return paths;
}

}  // namespace sb::test
