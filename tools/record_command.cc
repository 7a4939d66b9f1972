#include "switchboard/tools/record_command.h"

#include <optional>
#include <ostream>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/findings.h"
#include "switchboard/tools/loaded_model.h"

namespace sb::tools {
namespace {

using Elements = RecordingOptions::Elements;

Elements elements_of(const CommandLine& line) {
  const std::string text = line.get("elements", "inputs");
  if (text == "none") return Elements::None;
  if (text == "hashes") return Elements::Hashes;
  if (text == "inputs") return Elements::Inputs;
  if (text == "all") return Elements::All;
  SB_THROW(ValueError, "record: --elements: expected none, hashes, inputs or all, got ",
           io::quote(text));
}

}  // namespace

const CommandSpec& record_spec() {
  static const CommandSpec spec = {
      "record",
      "MODEL",
      1,
      1,
      "Runs an exported program and keeps every call at every key in a file: operator, kernel and\n"
      "why it ran, tensors, numbers, times. MODEL is what 'sb run' takes. 'sb replay', 'sb diff',\n"
      "'sb extract' and 'sb page' read the file. Exit status: as of 'sb trace'.",
      {{"out", "F", "the file (run.sbr)", false, 'o'},
       {"elements", "E",
        "of tensors: none, hashes, inputs (default: hashes, and what a replay needs), or all"},
       {"device", "D", "cpu (default), dummy, fake, fake:DEVICE such as fake:cuda:0"},
       {"inputs", "F", "safetensors with the inputs by name"},
       {"form", "F", "of a folder, another form of the model: see sb run --help"},
       {"training", "", "the same as --form training"},
       {"random-weights", "SEED", "make the weights, and the inputs, that the model lacks"}}};
  return spec;
}

int record_command(const CommandLine& line, std::ostream& out) {
  const Elements elements = elements_of(line);
  const RunPlace place = RunPlace::parse(line.get("device", "cpu"));
  const LoadedModel model(line, place.fake);

  const std::string path = line.get("out", "run.sbr");
  RunTrace trace;
  trace.recording = path;
  trace.elements = elements;
  const DeviceReport report = run_on(place, model.plan(), trace).report;
  const io::RecordedRun run = io::read_recording(path);
  Findings found;
  found.add_lines("faults", report.faults);
  found.add_line("error", report.error);
  found.add("file", path, str_cat(path, ": "));
  found.add("kernels", run.events.size(), str_cat(run.events.size(), " kernels ran, "));
  found.add("different_kernels", run.sites.size(), str_cat(run.sites.size(), " different ones, "));
  found.add("tensors", run.num_tensors, str_cat(run.num_tensors, " tensors\n"));
  found.print(line, out);
  return report.holds() ? kHolds : kFails;
}

}  // namespace sb::tools
