#include "switchboard/tools/plan_command.h"

#include <cstdlib>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/findings.h"
#include "switchboard/tools/loaded_model.h"
#include "switchboard/tools/plan/plan_report.h"
#include "switchboard/tools/plan_dynamic.h"
#include "switchboard/tools/plan_ranks.h"
#include "switchboard/tools/plan_run.h"

namespace sb::tools {
namespace {

// How far the CPU's count may be from the plan's.
constexpr double kCheckTolerance = 0.01;

// Runs on this machine's CPU and says what its allocator counted; whether that is as planned.
bool check_on_cpu(const RunPlan& run, int64_t planned, Findings* found) {
  const DeviceRun counted = run_on(RunPlace::parse("cpu"), run);
  SB_CHECK(!counted.report.error, "--check: on the cpu: ", *counted.report.error);
  const int64_t bytes = counted.report.peak_bytes;
  const double off =
      bytes == 0 ? (planned == 0 ? 0 : 1)
                 : std::abs(static_cast<double>(planned - bytes)) / static_cast<double>(bytes);
  const bool holds = off <= kCheckTolerance;
  found->add("counted_bytes", bytes,
             str_cat("counted on the cpu: ", with_separators(bytes), " bytes; the plan is ",
                     absl::StrFormat("%.3g %%", 100 * off), " off", holds ? "" : ": FAILED", "\n"));
  return holds;
}

std::string heading(const LoadedModel& model, const RunPlace& place) {
  const io::Program& program = model.plan().archive.program;
  return str_cat(model.name(), " (", to_string(program.dialect), ", ",
                 with_separators(std::ssize(program.graph.nodes)), " nodes) planned on ",
                 place.name);
}

int plan_dynamic(const CommandLine& line, const RunPlace& place, const LoadedModel& model,
                 const io::SymbolNumbers& sizes, std::ostream& out) {
  for (const char* flag : {"check", "ranks", "mesh", "link", "latency", "flops"})
    SB_CHECK_VALUE(!line.has(flag), "--", flag,
                   ": not with --dynamic, which plans for no one size");
  SB_CHECK_VALUE(place.fake, "--dynamic: expected a fake device: ", place.name, " has real sizes");
  SB_CHECK_VALUE(!line.has("memory") || !line.has("device-memory"),
                 "--memory: expected it or --device-memory");
  std::optional<double> memory;
  for (const char* flag : {"memory", "device-memory"})
    if (const auto text = line.find(flag)) memory = parse_quantity(flag, *text, byte_units());
  const DynamicPlan dynamic(place, model.plan(), model.rules(),
                            DynamicSize::parse_list(line.get("dynamic", "")), sizes);
  const plan::FormulaReport& report = dynamic.report();
  Findings found;
  found.add_all(Json::parse(dynamic.to_json(memory)),
                str_cat(heading(model, place), " with symbols for sizes\n\n",
                        line.has("summary") ? report.totals_text()
                                            : report.calls_text() + "\n" + report.storages_text(),
                        "\n", dynamic.summary_text(memory)));
  found.print(line, out);
  return kHolds;
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
      "With --dynamic, as expressions of sizes, with the sizes for which they hold.\n"
      "MODEL is what 'sb run' takes; weights and inputs need no data. Exit status: 0, 1 if "
      "--check\n"
      "finds another peak, 2 for bad input, such as an operator that must look at data.",
      {{"device", "D", "fake:cuda:0 (default), fake, fake:DEVICE, or a device to run on"},
       {"form", "F", "of a folder, another form of the model: see sb run --help"},
       {"training", "", "the same as --form training"},
       {"dynamic", "NAME=LO..HI",
        "plan for all sizes in a range, which is a symbol then: of a symbol, a dimension such as "
        "x.0, batch, seq or length; an end may be left out",
        true},
       {"memory", "BYTES", "with --dynamic, the same as --device-memory: the largest that fits"},
       {"dim", "NAME=N", "plan for this size of a fake run; names are those of sb run", true},
       {"summary", "", "print sums by operator instead of every call and storage"},
       {"json", "[F]", "print JSON instead, or write it to F too"},
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

  SB_CHECK_VALUE(!line.has("dim") || !needs_data, "--dim: expected a fake device, and no --check");
  const io::SymbolNumbers sizes =
      line.has("dim") ? model.rules().with(line.get_sizes("dim")) : run.sizes;
  if (line.has("dynamic")) return plan_dynamic(line, place, model, sizes, out);
  SB_CHECK_VALUE(!line.has("memory"), "--memory: expected --dynamic with it");

  const std::optional<RanksOptions> ranks = RanksOptions::parse(line);
  SB_CHECK_VALUE(!ranks || !needs_data,
                 "--ranks: expected a fake device, and no --check: the ranks are not here");
  std::string ranks_text;
  const auto planned = [&] {
    if (!ranks) return plan_on(place, run, {io::as_values(sizes)});
    const PlanAt plan_at = [&](const io::SymbolNumbers& at, DispatchMode& mode) {
      const ModeGuard guard(&mode);
      return plan_on(place, run, {io::as_values(at)});
    };
    RanksPlan result = plan_ranks(*ranks, plan_at, place.device, model.rules(), sizes);
    ranks_text = std::move(result.text);
    return std::move(result.plan);
  };
  const plan::PlanReport report(planned());
  Findings found;
  found.add_all(Json::parse(report.to_json()),
                str_cat(heading(model, place), "\n\n",
                        line.has("summary") ? report.totals_text()
                                            : report.calls_text() + "\n" + report.storages_text(),
                        "\n", report.summary_text()));
  if (ranks) {
    const std::vector<std::string> lines = absl::StrSplit(ranks_text, '\n', absl::SkipEmpty());
    found.add("ranks", lines, "\n" + ranks_text);
  }
  bool holds = true;
  if (line.has("check"))
    holds = check_on_cpu(run, plan::memory_on(report.plan(), place.device).peak_bytes, &found);
  found.print(line, out);
  return holds ? kHolds : kFails;
}

}  // namespace sb::tools
