#include "switchboard/tools/run_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/json.h"
#include "switchboard/tools/model_files.h"
#include "switchboard/tools/program_tensors.h"
#include "switchboard/tools/split_run.h"

namespace sb::tools {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

// The files of the model with the command line's own in their place. Outputs and labels that came
// with the model say nothing of other inputs.
ModelFiles chosen_files(const CommandLine& line) {
  ModelFiles files = find_model_files(line.arguments().at(0), form_of(line));
  const std::string inputs = line.get("inputs", files.inputs);
  if (inputs != files.inputs && !same_file(inputs, files.inputs)) files.outputs = files.labels = "";
  files.inputs = inputs;
  // Inputs of other sizes are made, unless they are given.
  if (line.has("dim")) {
    files.outputs = files.labels = "";
    if (!line.has("inputs")) files.inputs = "";
  }
  files.outputs = line.get("expect", files.outputs);
  if (line.has("check-metadata")) {
    SB_CHECK_VALUE(!line.has("expect"),
                   "--check-metadata: outputs are not compared, so --expect "
                   "says nothing");
    files.outputs = files.labels = "";
  }
  return files;
}

// Parameters that share their memory (tied weights) count once.
int64_t count_parameters(const io::ModelArchive& archive) {
  std::set<std::pair<const StorageImpl*, int64_t>> seen;
  int64_t count = 0;
  for (const io::StoredTensor& weight : archive.weights) {
    if (!weight.is_param) continue;
    if (weight.data.defined() && weight.data.numel() > 0 &&
        !seen.emplace(weight.data.storage().get(), weight.data.storage_offset()).second)
      continue;
    int64_t numel = 1;
    for (const int64_t size : weight.meta.sizes) numel *= size;
    count += numel;
  }
  return count;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string sizes_text(const io::SymbolNumbers& sizes) {
  std::vector<std::string> parts;
  for (const auto& [symbol, size] : sizes) parts.push_back(str_cat(symbol, " = ", size));
  return joined(parts);
}

// The first lines of the page: what runs, on what, and what is expected of it.
std::string heading(const ModelFiles& files, const RunPlan& plan, bool random) {
  const io::Program& program = plan.archive.program;
  std::vector<std::string> inputs, outputs;
  for (const io::InputSpec& input : program.inputs)
    if (input.kind == io::InputKind::User)
      inputs.push_back(is_tensor(input)
                           ? str_cat(input.name, " ", program.graph.meta_of(input.name).describe())
                           : input.name);
  for (const io::OutputSpec& output : program.outputs)
    if (const auto* ref = std::get_if<io::TensorRef>(&output.arg); ref && is_result(output.kind))
      outputs.push_back(str_cat(ref->name, " ", program.graph.meta_of(ref->name).describe()));
  std::string text = str_cat(files.name, " (", to_string(program.dialect), ", ",
                             with_separators(std::ssize(program.graph.nodes)), " nodes, ",
                             with_separators(count_parameters(plan.archive)), " parameters)  ",
                             files.archive, "\n");
  text += str_cat("in   ", joined(inputs), "  ",
                  !files.inputs.empty() ? files.inputs
                  : random              ? "random"
                                        : "no data",
                  "\n");
  if (!plan.sizes.empty()) text += str_cat("at   ", sizes_text(plan.sizes), "\n");
  text += str_cat("out  ", joined(outputs));
  if (!plan.expected.empty())
    text += str_cat("  ", files.outputs,
                    absl::StrFormat(" within %g + %g * |expected|", plan.tolerance.absolute,
                                    plan.tolerance.relative));
  return text + "\n\n";
}

// Results of a form that others share the outputs with may be called otherwise there.
std::vector<Tensor> expected_of(const io::Program& program, const ModelFiles& files) {
  std::vector<std::string> names;
  if (!files.names_from.empty()) {
    names = output_names(io::read_model_archive(files.names_from).program);
    if (names.size() != output_names(program).size()) names.clear();
  }
  return expected_outputs(program, files.outputs, names);
}

void check_labels(const ModelFiles& files, const io::Program& program,
                  const std::vector<double>& labels) {
  if (labels.empty()) return;
  for (const io::OutputSpec& output : program.outputs) {
    const auto* ref = std::get_if<io::TensorRef>(&output.arg);
    if (!ref || output.kind != io::OutputKind::User) continue;
    const io::ValueMeta& meta = program.graph.meta_of(ref->name);
    SB_CHECK_VALUE(!meta.sizes.empty() && meta.sizes[0] == io::Expression(std::ssize(labels)),
                   files.labels, ": ", labels.size(), " labels for the output ", meta.describe());
    return;
  }
}

TensorMap outputs_by_name(const io::Program& program, const std::vector<Tensor>& outputs) {
  TensorMap map;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const auto* ref = std::get_if<io::TensorRef>(&program.outputs[i].arg);
        ref && is_result(program.outputs[i].kind))
      map[ref->name] = outputs[i];
  return map;
}

// Input is to blame if no device could run it; otherwise it is the device.
int status_of(const std::vector<DeviceRun>& runs) {
  const auto holds = [](const DeviceRun& run) { return run.report.holds(); };
  if (std::ranges::all_of(runs, holds)) return kHolds;
  const auto refused = [](const DeviceRun& run) { return run.report.error && !run.unsupported; };
  return std::ranges::all_of(runs, refused) ? kBadInput : kFails;
}

// In one line, what holds or where something does not.
std::string verdict(const std::vector<DeviceRun>& runs, const RunPlan& plan) {
  std::vector<std::string> failed;
  bool compared = false;
  for (const DeviceRun& run : runs) {
    if (!run.report.holds()) failed.push_back(run.report.place);
    compared |= run.report.max_difference.has_value();
  }
  if (!failed.empty()) return str_cat("FAILED on ", joined(failed), "\n");
  return str_cat("ok: ", compared ? "outputs as expected; " : "", "every value has the ",
                 plan.own_strides ? "dtype and sizes of its placement\n"
                                  : "dtype, sizes and strides that were recorded\n");
}

Json places_json(const std::vector<DeviceReport>& reports) {
  Json places = Json::array();
  for (const DeviceReport& report : reports) places.push_back(to_json(report));
  return places;
}

}  // namespace

const CommandSpec& run_spec() {
  static const CommandSpec spec = {
      "run",
      "MODEL",
      1,
      1,
      "Runs an exported program op by op through the dispatcher and checks what it gives. MODEL "
      "is\n"
      "a .pt2 file, a folder with NAME.pt2, inputs.safetensors, outputs.safetensors and\n"
      "expected.json, or an unpacked archive. Exit status: 0 if everything holds, 1 if not, 2 for\n"
      "bad input.",
      {{"device", "D", "cpu (default), dummy, fake, fake:DEVICE such as fake:cuda:0, or all"},
       {"inputs", "F", "safetensors with the inputs by name"},
       {"expect", "F", "safetensors with the outputs that must result, by name"},
       {"check-metadata", "",
        "compare only metadata (dtypes, sizes, devices, strides), not the outputs' values"},
       {"rtol", "X", "outputs may differ by atol + rtol * |expected| (1e-5)"},
       {"atol", "X", "(1e-5)"},
       {"form", "F", "of a folder: " + form_names()},
       {"training", "", "the same as --form training"},
       {"dim", "NAME=N",
        "run at this size; NAME is a symbol, a dimension such as x.0, batch or seq", true},
       {"random-weights", "SEED", "make the weights, and the inputs, that the model lacks"},
       {"save-weights", "F", "write the weights that were used, as safetensors"},
       {"save-inputs", "F", "write the inputs that were used"},
       {"save-outputs", "F", "write the outputs of the first device that computes"},
       {"repeat", "N", "run N times more on each device, and print the least and median time"},
       {"parallel", "P",
        "each rank of sb --ranks N or sb --mpi runs a part: data (of the batch) or tensor (of the "
        "weights)"},
       {"placements", "", "of --parallel tensor, where each value lies, and why what is sent"},
       {"threads", "N", "how many threads an operator may use"},
       {"trace", "", "print each kernel that runs: its operator, key and source line"}}};
  return spec;
}

int run_command(const CommandLine& line, std::ostream& out) {
  const std::vector<RunPlace> places = RunPlace::parse_list(line.get("device", "cpu"));
  const bool all_fake = std::ranges::all_of(places, &RunPlace::fake);
  SB_CHECK_VALUE(!line.has("save-outputs") || !all_fake,
                 "--save-outputs: fake runs compute no outputs");
  const bool parallel = line.has("parallel");
  SB_CHECK_VALUE(line.get("parallel", "") == "tensor" || !line.has("placements"),
                 "--placements: expected --parallel tensor with it");
  if (parallel) {
    SB_CHECK_VALUE(find_world(),
                   "--parallel: there is one rank; start more by sb --ranks N run or ",
                   "mpirun -n N sb --mpi run");
    SB_CHECK_VALUE(std::ranges::none_of(places, &RunPlace::fake),
                   "--parallel: fake runs have no outputs to gather");
  }
  const bool as_json = line.has("json");
  SB_CHECK_VALUE(!as_json || !line.has("trace"), "run: give --json or --trace, not both");
  const Tolerance tolerance{line.get_tolerance("rtol", 1e-5), line.get_tolerance("atol", 1e-5)};
  std::optional<uint64_t> seed = line.find_seed("random-weights");
  if (line.has("dim") && !seed) seed = 0;
  const ModelFiles files = chosen_files(line);

  const io::ModelArchive archive = io::read_model_archive(files.archive);
  const io::GraphRunner runner(archive.program);
  const io::SymbolRules rules(archive.program);
  const io::SymbolNumbers asked = rules.with(line.get_sizes("dim"));
  RunPlan plan{archive,
               runner,
               program_tensors(archive, {files.inputs, seed, all_fake, asked}),
               files.outputs.empty() ? std::vector<Tensor>() : expected_of(archive.program, files),
               files.labels.empty() ? std::vector<double>() : read_labels(files.labels),
               tolerance,
               line.find_count("repeat").value_or(0)};
  plan.sizes = files.inputs.empty() ? asked : rules.numbers_of(plan.inputs);
  for (const auto& [name, size] : line.get_sizes("dim"))
    for (const std::string& symbol : rules.symbols_named(name))
      SB_CHECK_VALUE(plan.sizes.at(symbol) == size, "--dim ", name, "=", size,
                     ", but the inputs have ", plan.sizes.at(symbol), " there");
  if (const auto threads = line.find_count("threads")) set_num_threads(*threads);
  check_labels(files, archive.program, plan.labels);
  if (const auto path = line.find("save-weights"))
    save_tensors(*path, weights_by_name(archive, plan.inputs));
  if (const auto path = line.find("save-inputs"))
    save_tensors(*path, inputs_by_name(archive, plan.inputs));

  std::optional<SplitRun> split;
  if (parallel) split.emplace(line.get("parallel", ""), plan);
  const RunPlan& mine = split ? split->plan() : plan;

  std::vector<std::string> warnings = archive.program.warnings;
  if (split)
    for (const std::string& warning : split->warnings()) warnings.push_back(warning);
  for (const std::string& guard : rules.unread()) warnings.push_back("not checked: " + guard);
  if (!as_json) {
    out << heading(files, plan, seed.has_value());
    for (const std::string& warning : warnings) out << "warning: " << warning << "\n";
    if (split) out << split->summary();
    if (split && line.has("placements")) out << split->placements();
  }
  std::vector<DeviceRun> runs;
  std::vector<DeviceReport> reports;
  TextTrace text([&](const std::string& kernel) { out << "  " << kernel << "\n"; },
                 TextTrace::When::Start);
  const RunTrace trace = line.has("trace") ? RunTrace{&text, &out} : RunTrace();
  for (const RunPlace& place : places) {
    runs.push_back(run_on(place, mine, trace));
    reports.push_back(runs.back().report);
  }
  if (as_json) {
    Json page = {{"program", files.name}, {"warnings", warnings}, {"places", places_json(reports)}};
    if (split) page["parallel"] = split->to_json();
    out << to_text(page);
  } else {
    out << to_string(reports) << verdict(runs, mine);
  }
  // With --parallel, all ranks have all outputs.
  const bool writes = !parallel || get_rank() == 0;
  if (const auto path = line.find("save-outputs"); path && writes) {
    const auto computed =
        std::ranges::find_if(runs, [](const DeviceRun& run) { return !run.outputs.empty(); });
    if (computed != runs.end())
      save_tensors(*path, outputs_by_name(archive.program, computed->outputs));
  }
  return status_of(runs);
}

}  // namespace sb::tools
