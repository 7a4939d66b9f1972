#include "switchboard/tools/extract_command.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "absl/strings/numbers.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/extract.h"
#include "switchboard/io/recording/replay.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/findings.h"

namespace sb::tools {
namespace {

void write(const std::string& path, std::string_view text, std::vector<std::string>* written) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  SB_CHECK(file.flush(), path, ": cannot be written");
  written->push_back(path);
}

}  // namespace

const CommandSpec& extract_spec() {
  static const CommandSpec spec = {
      "extract",
      "RECORDING CALL",
      2,
      2,
      "Writes one call of a recording, with its exact inputs, as a short C++ file,\n"
      "and where the operator is ATen's as a Python file for PyTorch. CALL is the number that\n"
      "'sb diff' and 'sb replay' print. Many elements go into a file of bytes beside them.",
      {{"out", "NAME", "the files are NAME.cc, NAME.py, NAME.bin (repro)", false, 'o'}}};
  return spec;
}

int extract_command(const CommandLine& line, std::ostream& out) {
  const io::RecordedRun run = io::read_recording(line.arguments().at(0));
  uint32_t call = 0;
  SB_CHECK_VALUE(absl::SimpleAtoi(line.arguments().at(1), &call) && call < run.events.size(),
                 "extract: expected the number of a call, 0 to ", run.events.size() - 1, ", got ",
                 io::quote(line.arguments().at(1)));
  const std::string name = line.get("out", "repro");
  const io::RecordedRun* source = &run;
  io::Replay again;
  // What other calls computed is computed again.
  if (run.has_contents && !io::holds_inputs(run, call)) {
    const std::string path =
        (std::filesystem::temp_directory_path() / str_cat("sb_extract_", ::getpid())).string();
    again = io::replay(run, path, {}, RecordingOptions::Elements::All);
    std::filesystem::remove(path);
    for (uint32_t i = 0; i < again.origin.size() && i < again.run.events.size(); ++i)
      if (again.origin[i] == call &&
          again.run.site(again.run.events[i]).op == run.site(run.events[call]).op) {
        source = &again.run;
        call = i;
        break;
      }
  }
  const std::string data = name + ".bin";
  const io::Extract cpp = io::extract_cpp(*source, call, data);
  std::vector<std::string> written;
  write(name + ".cc", cpp.source, &written);
  if (source->site(source->events[call]).op.starts_with("aten::"))
    write(name + ".py", io::extract_python(*source, call, data).source, &written);
  if (!cpp.data.empty()) write(data, cpp.data, &written);
  Findings found;
  found.add_lines("files", written);
  found.print(line, out);
  return kHolds;
}

}  // namespace sb::tools
