#include "switchboard/tools/trace_command.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/chrome_trace.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/json.h"
#include "switchboard/tools/loaded_model.h"
#include "switchboard/tools/terminal.h"

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

// Keeps every event, in the order in which kernels ended.
class JsonTrace final : public TraceSink {
 public:
  void begin(const std::string& place) { place_ = place; }
  void kernel_ended(const TraceEvent& event) override {
    const auto microseconds = [](TraceClock::duration duration) {
      return std::chrono::duration<double, std::micro>(duration).count();
    };
    events_.push_back({{"place", place_},
                       {"operator", event.op},
                       {"key", to_string(event.key)},
                       {"kernel", event.where},
                       {"depth", event.depth},
                       {"thread", event.thread},
                       {"start_us", microseconds(event.start - begin_)},
                       {"us", microseconds(event.duration)},
                       {"threw", event.threw}});
  }
  void end(const DeviceReport& report) { places_.push_back(to_json(report)); }
  std::string text() const { return to_text({{"places", places_}, {"kernels", events_}}); }

 private:
  const TraceClock::time_point begin_ = TraceClock::now();
  std::string place_;
  Json places_ = Json::array();
  Json events_ = Json::array();
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
       {"out", "F", "write a trace for ui.perfetto.dev or chrome://tracing instead of text", false,
        'o'},
       {"text", "", "with --out, print the text too"}}};
  return spec;
}

int trace_command(const CommandLine& line, std::ostream& out) {
  const std::vector<RunPlace> places = RunPlace::parse_list(line.get("device", "cpu"));
  const bool all_fake = std::ranges::all_of(places, &RunPlace::fake);
  const LoadedModel model(line, all_fake);

  // Opened after everything else can be wrong: it replaces the file.
  const std::optional<std::string> path = line.find("out");
  std::optional<ChromeTrace> file;
  if (path) file.emplace(*path);
  const TerminalStyle style = terminal_style(out);
  TextTrace text(
      [&](const std::string& kernel) { out << styled_trace("  " + kernel, style) << "\n"; });
  const bool as_json = line.has("json");
  SB_CHECK_VALUE(!as_json || !line.has("text"), "trace: give --json or --text, not both");
  const bool print = !as_json && (!file || line.has("text"));
  JsonTrace json;
  Tee tee;
  if (file) tee.add(&*file);
  if (print) tee.add(&text);
  if (as_json) tee.add(&json);

  int status = kHolds;
  std::string summary;
  for (const RunPlace& place : places) {
    json.begin(place.name);
    const DeviceRun run = run_on(place, model.plan(), {&tee, print ? &out : nullptr});
    json.end(run.report);
    summary += str_cat(place.name, ": ", with_separators(count_kernels(run.report)), " kernels\n");
    for (const std::string& fault : run.report.faults) summary += str_cat("  ", fault, "\n");
    if (run.report.error) summary += str_cat("  ", *run.report.error, "\n");
    const int own = run.report.holds()                     ? kHolds
                    : run.report.error && !run.unsupported ? kBadInput
                                                           : kFails;
    status = std::max(status, own);
  }
  out << (as_json ? json.text() : summary);
  if (!file) return status;
  file->close();
  if (as_json) return status;
  out << *path << ": open it in ui.perfetto.dev or chrome://tracing\n";
  return status;
}

}  // namespace sb::tools
