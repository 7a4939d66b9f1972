#include "switchboard/tools/replay_command.h"

#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/replay.h"
#include "switchboard/tools/exit_status.h"

namespace sb::tools {

const CommandSpec& replay_spec() {
  static const CommandSpec spec = {
      "replay",
      "RECORDING",
      1,
      1,
      "Makes the calls of a recording again, without the program that made them, and checks that\n"
      "each goes to the same kernel at every key and gives the same bits. Stops at the first that\n"
      "does not. Exit status: 0 if all did, 1 if one did not, 2 for bad input.",
      {{"ignore-lines", "", "a kernel that moved within its file is the same"},
       {"out", "F", "keep a recording of the replay, with all elements", false, 'o'}}};
  return spec;
}

int replay_command(const CommandLine& line, std::ostream& out) {
  const io::RecordedRun run = io::read_recording(line.arguments().at(0));
  if (!run.fault.empty()) out << run.fault << "\n";
  const std::optional<std::string> kept = line.find("out");
  const std::string path = kept.value_or(
      (std::filesystem::temp_directory_path() / str_cat("sb_replay_", ::getpid())).string());
  const io::RunDiffOptions options{.ignore_lines = line.has("ignore-lines")};
  const io::Replay again =
      io::replay(run, path, options,
                 kept ? RecordingOptions::Elements::All : RecordingOptions::Elements::Hashes);
  if (!kept) std::filesystem::remove(path);
  out << again.calls << " calls made again, " << again.run.events.size() << " kernels\n";
  if (again.difference) out << io::to_string(run, again.run, *again.difference);
  if (!again.stopped.empty()) out << "stopped: " << again.stopped << "\n";
  if (again.difference || !again.stopped.empty()) return kFails;
  out << "ok: the same kernel at every key, the same bits\n";
  return run.fault.empty() ? kHolds : kFails;
}

}  // namespace sb::tools
