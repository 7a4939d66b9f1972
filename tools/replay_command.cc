#include "switchboard/tools/replay_command.h"

#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/replay.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/run_difference.h"

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
  const std::optional<std::string> kept = line.find("out");
  const std::string path = kept.value_or(
      (std::filesystem::temp_directory_path() / str_cat("sb_replay_", ::getpid())).string());
  const io::RunDiffOptions options{.ignore_lines = line.has("ignore-lines")};
  const io::Replay again =
      io::replay(run, path, options,
                 kept ? RecordingOptions::Elements::All : RecordingOptions::Elements::Hashes);
  if (!kept) std::filesystem::remove(path);
  const bool ended = again.stopped.empty();
  Findings found;
  found.add_lines("faults", faults_of({&run}));
  found.add("calls", again.calls, str_cat(again.calls, " calls made again, "));
  found.add("kernels", again.run.events.size(), str_cat(again.run.events.size(), " kernels ran\n"));
  add_difference(run, again.run, again.difference,
                 ended ? "ok: the same kernel at every key, the same bits\n" : "", &found);
  found.add("stopped", ended ? Json() : Json(again.stopped),
            ended ? "" : str_cat("stopped: ", again.stopped, "\n"));
  found.print(line, out);
  return ended && !again.difference && run.fault.empty() ? kHolds : kFails;
}

}  // namespace sb::tools
