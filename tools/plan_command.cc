#include "switchboard/tools/plan_command.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "switchboard/core/error.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/loaded_model.h"
#include "switchboard/tools/plan/plan_report.h"
#include "switchboard/tools/plan/planner.h"
#include "switchboard/tools/plan_ranks.h"
#include "switchboard/tools/progress.h"

namespace sb::tools {
namespace {

// How far the CPU's count may be from the plan's.
constexpr double kCheckTolerance = 0.01;

// Tells the planner which node runs, and shows how far the plan is.
class Labeller : public io::RunObserver {
 public:
  Labeller(plan::Planner& planner, const io::Graph& graph)
      : planner_(planner), graph_(graph), progress_("nodes planned", graph.nodes.size()) {}
  void on_node(const io::Graph& graph, size_t node) override {
    if (&graph == &graph_) progress_.set(node);
    planner_.set_label(label_of(graph.nodes[node]));
  }

 private:
  plan::Planner& planner_;
  const io::Graph& graph_;
  Progress progress_;
};

// The name that a user knows the input by: a weight's is dotted.
const std::string& name_of(const io::InputSpec& input) {
  return input.target.empty() ? input.name : input.target;
}

// The modes of others come below the planner's.
plan::Plan plan_on(const RunPlace& place, const RunPlan& run, const io::SymbolNumbers& sizes) {
  Mover mover(place);
  const std::vector<IValue> inputs = move_inputs(run, mover, io::as_values(sizes));
  const io::Program& program = run.archive.program;
  plan::Planner planner;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_Tensor()) planner.add_input(inputs[i].to_tensor(), name_of(program.inputs[i]));
  Labeller labeller(planner, program.graph);
  const ModeGuard guard(&planner);
  const std::vector<IValue> outputs = run.runner.run(inputs, place.device, &labeller);
  return planner.finish();
}

void write_json(const std::string& path, const std::string& json) {
  std::ofstream file(path);
  SB_CHECK(file.is_open(), path, ": cannot be opened for writing: ", std::strerror(errno));
  file << json;
  file.close();
  SB_CHECK(file, path, ": could not be written");
}

// Runs on this machine's CPU and says what its allocator counted; whether that is as planned.
bool check_on_cpu(const RunPlan& run, int64_t planned, std::ostream& out) {
  const DeviceRun counted = run_on(RunPlace::parse("cpu"), run);
  SB_CHECK(!counted.report.error, "--check: on the cpu: ", *counted.report.error);
  const int64_t bytes = counted.report.peak_bytes;
  const double off =
      bytes == 0 ? (planned == 0 ? 0 : 1)
                 : std::abs(static_cast<double>(planned - bytes)) / static_cast<double>(bytes);
  const bool holds = off <= kCheckTolerance;
  out << "counted on the cpu: " << with_separators(bytes) << " bytes; the plan is "
      << absl::StrFormat("%.3g %%", 100 * off) << " off" << (holds ? "" : ": FAILED") << "\n";
  return holds;
}

}  // namespace

const CommandSpec& plan_spec() {
  static const CommandSpec spec = {
      "plan",
      "MODEL",
      1,
      1,
      "Plans a program for a device that need not be here: FLOPs, bytes moved, live memory call "
      "by\n"
      "call, the peak of each device, and an arena in which every temporary tensor has its place.\n"
      "MODEL is what 'sb run' takes; weights and inputs need no data. Exit status: 0, 1 if "
      "--check\n"
      "finds another peak, 2 for bad input, such as an operator that must look at data.",
      {{"device", "D", "fake:cuda:0 (default), fake, fake:DEVICE, or a device to run on"},
       {"form", "F", "of a folder, another form of the model: see sb run --help"},
       {"training", "", "the same as --form training"},
       {"summary", "", "print sums by operator instead of every call and storage"},
       {"json", "F", "write the plan as JSON too"},
       {"check", "", "run on this machine's CPU too, and compare the peak within 1 %"},
       {"inputs", "F", "for --check and real devices: safetensors with the inputs by name"},
       {"random-weights", "SEED", "the same: make what the model lacks"},
       {"ranks", "N", "plan for so many ranks, on a fake device: what each kind of them sends"},
       {"mesh", "NAME=N,NAME=N", "the ranks' grid; its dimensions are groups by these names"},
       {"link", "RATE", "a rank's link, such as 50GB/s: tells the time in collectives"},
       {"latency", "T", "of a step on a link, such as 2us; 5us unless given"},
       {"flops", "RATE", "what a device computes, such as 300TFLOP/s: tells that time, too"},
       {"device-memory", "BYTES", "such as 80GB: whether a rank fits, and the largest batch"}}};
  return spec;
}

int plan_command(const CommandLine& line, std::ostream& out) {
  const RunPlace place = RunPlace::parse(line.get("device", "fake:cuda:0"));
  const bool needs_data = line.has("check") || !place.fake;
  const LoadedModel model(line, !needs_data);
  const RunPlan& run = model.plan();

  const std::optional<RanksOptions> ranks = RanksOptions::parse(line);
  SB_CHECK_VALUE(!ranks || !needs_data,
                 "--ranks: expected a fake device, and no --check: the ranks are not here");
  std::string ranks_text;
  const auto planned = [&] {
    if (!ranks) return plan_on(place, run, run.sizes);
    const PlanAt plan_at = [&](const io::SymbolNumbers& sizes, DispatchMode& mode) {
      const ModeGuard guard(&mode);
      return plan_on(place, run, sizes);
    };
    RanksPlan result = plan_ranks(*ranks, plan_at, place.device, model.rules(), run.sizes);
    ranks_text = std::move(result.text);
    return std::move(result.plan);
  };
  const plan::PlanReport report(planned());
  if (const auto path = line.find("json")) write_json(*path, report.to_json());
  out << model.name() << " (" << to_string(run.archive.program.dialect) << ", "
      << with_separators(std::ssize(run.archive.program.graph.nodes)) << " nodes) planned on "
      << place.name << "\n\n";
  if (line.has("summary")) {
    out << report.totals_text();
  } else {
    out << report.calls_text() << "\n" << report.storages_text();
  }
  out << "\n" << report.summary_text();
  if (ranks) out << "\n" << ranks_text;
  if (!line.has("check")) return kHolds;
  const int64_t peak = plan::memory_on(report.plan(), place.device).peak_bytes;
  return check_on_cpu(run, peak, out) ? kHolds : kFails;
}

}  // namespace sb::tools
