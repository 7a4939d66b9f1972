#include "switchboard/tools/trace_command.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/chrome_trace.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/model_files.h"
#include "switchboard/tools/program_tensors.h"

namespace sb::tools {
namespace {

// Gives every event to several sinks.
class Tee final : public TraceSink {
 public:
  void add(TraceSink* sink) { sinks_.push_back(sink); }
  void kernel_started(const TraceEvent& event) override {
    for (TraceSink* sink : sinks_) sink->kernel_started(event);
  }
  void kernel_ended(const TraceEvent& event) override {
    for (TraceSink* sink : sinks_) sink->kernel_ended(event);
  }

 private:
  std::vector<TraceSink*> sinks_;
};

int64_t count_kernels(const DeviceReport& report) {
  int64_t count = 0;
  for (const auto& [key, kernels] : report.kernels) count += kernels;
  return count;
}

}  // namespace

const CommandSpec& trace_spec() {
  static const CommandSpec spec = {
      "trace",
      "MODEL",
      1,
      1,
      "Runs an exported program and shows every kernel: its operator, key, source line and time,\n"
      "each below the one that called it. MODEL is what 'sb run' takes. Exit status: 0 if the\n"
      "program ran and its values have the metadata that was recorded, 1 if not, 2 for bad input.",
      {{"device", "D", "cpu (default), dummy, fake, fake:DEVICE such as fake:cuda:0, or all"},
       {"inputs", "F", "safetensors with the inputs by name"},
       {"form", "F", "of a folder, another form of the model: see sb run --help"},
       {"training", "", "the same as --form training"},
       {"random-weights", "SEED", "make the weights, and the inputs, that the model lacks"},
       {"out", "F", "write a trace for ui.perfetto.dev or chrome://tracing instead of text"},
       {"text", "", "with --out, print the text too"}}};
  return spec;
}

int trace_command(const CommandLine& line, std::ostream& out) {
  const std::vector<RunPlace> places = RunPlace::parse_list(line.get("device", "cpu"));
  const bool all_fake = std::ranges::all_of(places, &RunPlace::fake);
  const std::optional<uint64_t> seed = line.find_seed("random-weights");
  const ModelFiles files = find_model_files(line.arguments().at(0), form_of(line));
  const io::ModelArchive archive = io::read_model_archive(files.archive);
  const io::GraphRunner runner(archive.program);
  const io::SymbolRules rules(archive.program);
  const std::string inputs = line.get("inputs", files.inputs);
  RunPlan plan{archive, runner, program_tensors(archive, {inputs, seed, all_fake, rules.hints()}),
               {},      {},     {}};
  plan.sizes = inputs.empty() ? rules.hints() : rules.numbers_of(plan.inputs);

  // Opened after everything else can be wrong: it replaces the file.
  const std::optional<std::string> path = line.find("out");
  std::optional<ChromeTrace> file;
  if (path) file.emplace(*path);
  TextTrace text([&](const std::string& kernel) { out << "  " << kernel << "\n"; });
  const bool print = !file || line.has("text");
  Tee tee;
  if (file) tee.add(&*file);
  if (print) tee.add(&text);

  int status = kHolds;
  std::string summary;
  for (const RunPlace& place : places) {
    const DeviceRun run = run_on(place, plan, {&tee, print ? &out : nullptr});
    summary += str_cat(place.name, ": ", with_separators(count_kernels(run.report)), " kernels\n");
    for (const std::string& fault : run.report.faults) summary += str_cat("  ", fault, "\n");
    if (run.report.error) summary += str_cat("  ", *run.report.error, "\n");
    const int own = run.report.holds()                     ? kHolds
                    : run.report.error && !run.unsupported ? kBadInput
                                                           : kFails;
    status = std::max(status, own);
  }
  out << summary;
  if (!file) return status;
  file->close();
  out << *path << ": open it in ui.perfetto.dev or chrome://tracing\n";
  return status;
}

}  // namespace sb::tools
