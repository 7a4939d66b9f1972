#include "switchboard/tools/guards_command.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/json.h"
#include "switchboard/tools/loaded_model.h"

namespace sb::tools {
namespace {

bool has_batch(const io::InputSpec& input, const IValue& value) {
  return input.kind == io::InputKind::User && value.is_Tensor() && value.to_tensor().defined() &&
         value.to_tensor().dim() > 0;
}

// Runs on fake tensors; what the run rests on is in `env` then.
void run_symbolically(const RunPlan& plan, const IntrusivePtr<ShapeEnv>& env) {
  FakeTensorMode fake({.shape_env = env});
  std::vector<IValue> inputs;
  const std::vector<IValue>& real = plan.inputs;
  for (size_t i = 0; i < real.size(); ++i) {
    const io::InputSpec& spec = plan.archive.program.inputs[i];
    if (!real[i].is_Tensor()) {
      inputs.push_back(real[i]);
    } else if (has_batch(spec, real[i])) {
      const Tensor& tensor = real[i].to_tensor();
      FromTensorOptions how{.source = spec.name};
      how.dims.resize(static_cast<size_t>(tensor.dim()), {.kind = DimDynamic::Static});
      how.dims[0] = {.kind = DimDynamic::Dynamic};
      inputs.push_back(fake.from_tensor(tensor, how));
    } else {
      inputs.push_back(fake.from_tensor(real[i].to_tensor(), {.static_shapes = true}));
    }
  }
  const FakeTensorModeGuard active(fake);
  plan.runner.run(inputs, Device(DeviceType::CPU));
}

// Whether the program runs for real on inputs of that batch size, which are zeros.
bool runs_at(const RunPlan& plan, int64_t batch) {
  std::vector<IValue> inputs = plan.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!has_batch(plan.archive.program.inputs[i], inputs[i])) continue;
    const Tensor& tensor = inputs[i].to_tensor();
    std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
    sizes[0] = batch;
    inputs[i] = zeros(IntArrayRef(sizes), tensor.dtype());
  }
  try {
    plan.runner.run(inputs, Device(DeviceType::CPU));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<int64_t> parse_sizes(const std::string& text) {
  std::vector<int64_t> sizes;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t size = 0;
    SB_CHECK_VALUE(absl::SimpleAtoi(part, &size) && size >= 0,
                   "--check: expected batch sizes such as 0,1,8, got '", text, "'");
    sizes.push_back(size);
  }
  return sizes;
}

// A batch size that was tried.
struct CheckedBatch {
  int64_t batch;
  bool accepted;
  std::string failed;  // the guard that refused it
  bool runs;
  bool agrees() const { return accepted == runs; }
};

std::vector<CheckedBatch> check_batches(const CommandLine& line, const RunPlan& plan,
                                        const ShapeEnv& env) {
  std::vector<CheckedBatch> checked;
  const auto asked = line.find("check");
  if (!asked) return checked;
  for (const int64_t batch : parse_sizes(*asked)) {
    std::vector<std::pair<std::string, int64_t>> sizes;
    for (size_t i = 0; i < plan.inputs.size(); ++i) {
      const io::InputSpec& spec = plan.archive.program.inputs[i];
      if (has_batch(spec, plan.inputs[i]))
        sizes.emplace_back(absl::StrCat(spec.name, ".size(0)"), batch);
    }
    const GuardsResult guards = env.evaluate_guards(sizes);
    checked.push_back({batch, static_cast<bool>(guards), guards.failed, runs_at(plan, batch)});
  }
  return checked;
}

std::string guards_text(const std::string& program, const std::vector<std::string>& guards,
                        const std::vector<CheckedBatch>& checked) {
  std::string text = program + " runs as long as\n";
  for (const std::string& guard : guards) absl::StrAppend(&text, "  ", guard, "\n");
  if (!checked.empty()) text += "\nbatch  guards   run\n";
  for (const CheckedBatch& one : checked) {
    absl::StrAppendFormat(&text, "%-7d%s%s%s", one.batch, one.accepted ? "accept   " : "refuse   ",
                          one.runs ? "runs" : "fails", one.agrees() ? "" : "   DISAGREE");
    if (!one.accepted) text += "   " + one.failed;
    text += "\n";
  }
  return text;
}

// {program, guards, checked: [{batch, accepted, failed, runs}]}.
std::string guards_json(const std::string& program, const std::vector<std::string>& guards,
                        const std::vector<CheckedBatch>& checked) {
  Json list = Json::array();
  for (const CheckedBatch& one : checked)
    list.push_back({{"batch", one.batch},
                    {"accepted", one.accepted},
                    {"failed", one.accepted ? Json() : Json(one.failed)},
                    {"runs", one.runs}});
  return to_text({{"program", program}, {"guards", guards}, {"checked", list}});
}

}  // namespace

const CommandSpec& guards_spec() {
  static const CommandSpec spec = {
      "guards",
      "MODEL",
      1,
      1,
      "Runs a program once with a symbol for the batch size (the first dimension of each input) "
      "and\n"
      "prints what the run rests on: the batch sizes that satisfy it are those that the program "
      "takes.\n"
      "MODEL is what 'sb run' takes. Exit status: 0, 1 if --check finds a size where guards and "
      "run\n"
      "disagree, 2 for bad input.",
      {{"form", "F", "of a folder, another form of the model: see sb run --help"},
       {"training", "", "the same as --form training"},
       {"check", "N,...", "run for real at these batch sizes, and compare"},
       {"inputs", "F", "safetensors with the inputs by name"},
       {"random-weights", "SEED", "make what the model lacks"}}};
  return spec;
}

int guards_command(const CommandLine& line, std::ostream& out) {
  const LoadedModel model(line, /*without_data=*/false);

  // A batch of 0 or 1 is as good as any other.
  const auto env = ShapeEnv::create({.specialize_zero_one = false, .duck_shape = false});
  run_symbolically(model.plan(), env);
  const std::vector<std::string> guards = env->produce_guards();
  const std::vector<CheckedBatch> checked = check_batches(line, model.plan(), *env);
  if (line.has("json"))
    out << guards_json(model.name(), guards, checked);
  else
    out << guards_text(model.name(), guards, checked);
  return std::ranges::all_of(checked, &CheckedBatch::agrees) ? kHolds : kFails;
}

}  // namespace sb::tools
