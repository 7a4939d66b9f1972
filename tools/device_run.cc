#include "switchboard/tools/device_run.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <set>

#include "absl/strings/ascii.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/tools/peak_memory.h"
#include "switchboard/tools/program_tensors.h"
#include "switchboard/tools/progress.h"

namespace sb::tools {
namespace {

// The peaks of the real devices other than `device`.
class PeaksElsewhere {
 public:
  explicit PeaksElsewhere(Device device) {
    for (int i = 0; i < kNumDeviceTypes; ++i) {
      const auto type = static_cast<DeviceType>(i);
      if (type == device.type || type == DeviceType::Meta) continue;
      if (Allocator* allocator = find_allocator(type))
        peaks_.emplace_back(std::string(to_string(type)), PeakMemory(allocator->stats()));
    }
  }
  std::vector<std::pair<std::string, int64_t>> bytes() const {
    std::vector<std::pair<std::string, int64_t>> bytes;
    for (const auto& [name, peak] : peaks_)
      if (peak.bytes() != 0) bytes.emplace_back(name, peak.bytes());
    return bytes;
  }

 private:
  std::vector<std::pair<std::string, PeakMemory>> peaks_;
};

// Shows how far a run is, node by node, and hands on what it is told. The graphs of branches and
// loops are part of their nodes.
class RunProgress : public io::RunObserver {
 public:
  RunProgress(const std::string& place, const io::Graph& graph, bool shown, io::RunObserver& next)
      : graph_(graph), next_(next) {
    if (shown) progress_.emplace(str_cat("nodes on ", place), graph.nodes.size());
  }
  void on_node(const io::Graph& graph, size_t node) override {
    if (progress_ && &graph == &graph_) progress_->set(node);
    next_.on_node(graph, node);
  }
  void on_value(const io::Graph& graph, size_t node, const std::string& name,
                const IValue& value) override {
    next_.on_value(graph, node, name, value);
  }

 private:
  const io::Graph& graph_;
  io::RunObserver& next_;
  std::optional<Progress> progress_;
};

bool is_result_tensor(const io::OutputSpec& output) {
  return is_result(output.kind) && std::holds_alternative<io::TensorRef>(output.arg);
}

const std::string& name_of(const io::OutputSpec& output) {
  return std::get<io::TensorRef>(output.arg).name;
}

// The text with the file's names of symbols in place of those that the run gave them.
std::string with_names_of_file(const std::string& text, const io::SymbolValues& symbols) {
  std::map<std::string, std::string> names;
  for (const auto& [name, value] : symbols)
    if (value.is_symbolic()) names.emplace(value.node()->to_string(), name);
  std::string renamed;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (absl::ascii_isalnum(text[end]) || text[end] == '_')) ++end;
    const std::string word = text.substr(i, std::max<size_t>(end - i, 1));
    const auto found = names.find(word);
    renamed += found == names.end() ? word : found->second;
    i += word.size();
  }
  return renamed;
}

std::vector<std::string> describe_outputs(const io::Program& program,
                                          const std::vector<IValue>& outputs,
                                          const io::SymbolValues& symbols) {
  std::vector<std::string> text;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_result_tensor(program.outputs[i]))
      text.push_back(str_cat(name_of(program.outputs[i]), " ",
                             with_names_of_file(outputs[i].to_tensor().describe(), symbols)));
  return text;
}

// Outputs are on the CPU here.
void compare_outputs(const RunPlan& plan, const std::vector<Tensor>& outputs,
                     DeviceReport& report) {
  const std::vector<io::OutputSpec>& specs = plan.archive.program.outputs;
  for (size_t i = 0; i < plan.expected.size(); ++i) {
    const Tensor& expected = plan.expected[i];
    if (!expected.defined()) continue;
    if (!outputs[i].defined() || outputs[i].dtype() != expected.dtype() ||
        outputs[i].sizes() != expected.sizes()) {
      report.faults.push_back(str_cat("output '", name_of(specs[i]), "': ", outputs[i].describe(),
                                      "; the file has ", expected.describe()));
      continue;
    }
    const Comparison result = compare(outputs[i], expected, plan.tolerance);
    report.max_difference = std::max(report.max_difference.value_or(0), result.max_difference);
    if (result.outside != 0)
      report.faults.push_back(str_cat("output '", name_of(specs[i]), "': ", result.outside, " of ",
                                      result.elements, " elements are not as expected; ",
                                      result.worst));
  }
}

void score_outputs(const RunPlan& plan, const std::vector<Tensor>& outputs, DeviceReport& report) {
  const std::vector<io::OutputSpec>& specs = plan.archive.program.outputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!is_result_tensor(specs[i])) continue;
    report.score = score(outputs[i], plan.labels);
    return;  // the first output is the one with labels
  }
}

std::vector<Tensor> all_to_cpu(const std::vector<IValue>& outputs) {
  std::vector<Tensor> copies;
  for (const IValue& output : outputs)
    copies.push_back(output.is_Tensor() && output.to_tensor().defined() ? to_cpu(output.to_tensor())
                                                                        : Tensor());
  return copies;
}

// Of all threads of this process, since it began.
double cpu_milliseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

void time_runs(const RunPlan& plan, const std::vector<IValue>& inputs, Device device,
               DeviceReport& report) {
  if (plan.repeats == 0) return;
  std::vector<double> times;
  double least_cpu = std::numeric_limits<double>::infinity();
  Progress progress(str_cat("runs on ", report.place), static_cast<uint64_t>(plan.repeats));
  for (int i = 0; i < plan.repeats; ++i, progress.advance()) {
    const auto begin = std::chrono::steady_clock::now();
    const double cpu_begin = cpu_milliseconds();
    plan.runner.run(inputs, device);
    least_cpu = std::min(least_cpu, cpu_milliseconds() - cpu_begin);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    times.push_back(time.count());
  }
  report.cpu_milliseconds = least_cpu;
  std::ranges::sort(times);
  report.milliseconds = times[times.size() / 2];
  report.least_milliseconds = times[0];
}

// Symbols of a fake run, one for each that the program's inputs have.
struct FakeSymbols {
  IntrusivePtr<ShapeEnv> env;
  RunSymbols run;
};

constexpr size_t kSamples = 12;

// What an environment calls a symbol of the file: the first size that is it alone.
std::string source_of(const io::SymbolRules& rules, const std::string& symbol) {
  for (const io::SymbolRules::Place& place : rules.places())
    if (place.size.symbol() == std::string_view(symbol)) return place.name;
  return symbol;
}

FakeSymbols make_symbols(const io::Program& program, const io::SymbolRules& rules,
                         const io::SymbolNumbers& sizes) {
  // A size of 0 or 1 is as good as any other.
  FakeSymbols symbols{ShapeEnv::create({.specialize_zero_one = false, .duck_shape = false}), {}};
  for (const auto& [symbol, size] : sizes) {
    const auto range = program.ranges.find(symbol);
    const bool known = range != program.ranges.end();
    symbols.run.values.emplace(
        symbol, symbols.env
                    ->create_symint(size, source_of(rules, symbol), DimDynamic::Dynamic,
                                    known ? range->second.min : std::nullopt,
                                    known ? range->second.max : std::nullopt)
                    .value());
  }
  symbols.run.env = symbols.env.get();
  for (const io::SymbolNumbers& sample : rules.samples(sizes, kSamples)) {
    SamplePoint point;
    for (const auto& [symbol, number] : sample)
      point.emplace_back(source_of(rules, symbol), number);
    symbols.run.samples.push_back(std::move(point));
  }
  return symbols;
}

// What the file says of sizes beyond their ranges: two that must be equal are known to be.
void assume_guards(const io::SymbolRules& rules, const FakeSymbols& symbols) {
  for (const auto& condition : rules.conditions()) {
    if (!condition.is_known(symbols.run.values)) continue;
    const SymValue truth = condition.evaluate(symbols.run.values);
    if (truth.kind() == SymKind::Bool && truth.is_symbolic()) SymBool(truth).guard_bool();
  }
}

// The run must hold for all sizes that the program takes.
void check_guards(const FakeSymbols& symbols, DeviceReport& report) {
  for (const SamplePoint& point : symbols.run.samples) {
    const GuardsResult guards = symbols.env->evaluate_guards(point);
    if (guards) continue;
    std::string sizes;
    for (const auto& [name, size] : point)
      sizes += str_cat(sizes.empty() ? "" : ", ", name, " = ", size);
    report.faults.push_back(str_cat("runs only where ",
                                    with_names_of_file(guards.failed, symbols.run.values), " (",
                                    to_string(guards.origin), "), but the program takes ", sizes));
    return;
  }
}

// Attention takes another way where its mask requires a gradient, which eager PyTorch asks. Files
// say so of parameters alone: it is what was computed from one.
bool asks_for_gradients(const io::ModelArchive& archive) {
  std::set<std::string> differentiable;
  for (const io::InputSpec& input : archive.program.inputs)
    if (is_tensor(input) && input_meta(archive, input).requires_grad)
      differentiable.insert(input.name);
  const io::Graph& graph = archive.program.graph;
  for (const io::Node& node : graph.nodes) {
    bool derived = false, masked = false;
    for (const io::NamedArgument& input : node.inputs)
      io::for_each_name(input.value, [&](const std::string& name) {
        if (!differentiable.contains(name)) return;
        derived = true;
        masked |= input.name == "attn_mask";
      });
    if (masked && node.op == "aten::scaled_dot_product_attention") return true;
    if (!derived) continue;
    for (const io::Argument& output : node.outputs)
      io::for_each_name(output, [&](const std::string& name) {
        const auto meta = graph.tensor_values.find(name);
        if (meta != graph.tensor_values.end() && is_floating_point(meta->second.dtype))
          differentiable.insert(name);
      });
  }
  return false;
}

}  // namespace

std::vector<IValue> move_inputs(const RunPlan& plan, Mover& mover,
                                const io::SymbolValues& symbols) {
  const io::Program& program = plan.archive.program;
  const bool with_gradients = asks_for_gradients(plan.archive);
  std::vector<IValue> moved;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const io::InputSpec& spec = program.inputs[i];
    const IValue& input = plan.inputs[i];
    if (const auto* number = std::get_if<io::SymRef>(&spec.value)) {
      const io::Expression& value = program.graph.sym_values.at(number->name);
      moved.push_back(value.is_known(symbols) ? io::ivalue_of(value.evaluate(symbols)) : input);
      continue;
    }
    if (!is_tensor(spec)) {
      moved.push_back(input);
      continue;
    }
    const io::ValueMeta meta = input_meta(plan.archive, spec);
    const Tensor& tensor = input.to_tensor();
    if (!tensor.defined() || (mover.is_fake() && !meta.is_static()))
      moved.push_back(mover.make(meta, symbols));
    else if (spec.kind == io::InputKind::User)
      moved.push_back(mover.move_as(tensor, meta.at(symbols)));
    else
      moved.push_back(mover.move(tensor));
    if (meta.requires_grad && with_gradients) set_requires_grad(moved.back().to_tensor());
  }
  return moved;
}

DeviceRun run_on(const RunPlace& place, const RunPlan& plan, const RunTrace& trace) {
  const io::Program& program = plan.archive.program;
  DeviceRun run;
  DeviceReport& report = run.report;
  report.place = place.name;
  try {
    // Nobody who runs a model asks for gradients; a joint program has them as nodes.
    std::optional<ExcludeKeysGuard> without_gradients;
    if (!asks_for_gradients(plan.archive))
      without_gradients.emplace(kAutogradFunctionalities |
                                DispatchKeySet(DispatchKey::ADInplaceOrView));
    const io::SymbolRules rules(program);
    FakeSymbols symbols;
    if (place.fake)
      symbols = make_symbols(program, rules, plan.sizes);
    else
      symbols.run.values = io::as_values(plan.sizes);
    symbols.run.ranges = &program.ranges;
    Mover mover(place, symbols.env);
    const PeakMemory peak(mover.memory());
    std::vector<IValue> outputs;
    {
      const std::vector<IValue> inputs = move_inputs(plan, mover, symbols.run.values);
      if (symbols.env) assume_guards(rules, symbols);
      const PeaksElsewhere elsewhere(place.device);
      const bool own_strides = plan.own_strides || (!place.fake && !place.device.is_cpu());
      ValueChecker checker(place.device, own_strides, symbols.run, trace.headings);
      if (trace.headings) *trace.headings << "on " << place.name << "\n";
      std::optional<TraceCalls> tracer;
      if (trace.sink) tracer.emplace(*trace.sink);
      CallCounter counter;
      std::optional<Recording> recording;
      if (!trace.recording.empty())
        recording.emplace(trace.recording, RecordingOptions{.elements = trace.elements});
      reset_fallback_stats(place.device.type);
      {
        RunProgress progress(place.name, program.graph, !trace.sink && !trace.headings, checker);
        outputs = plan.runner.run(inputs, place.device, &progress);
      }
      if (recording) recording->close();
      report.kernels = counter.counts();
      if (!place.fake) report.fallbacks = fallback_stats(place.device.type);
      report.faults = checker.faults();
      if (symbols.env) check_guards(symbols, report);
      if (!place.fake) report.peak_elsewhere = elsewhere.bytes();
      report.peak_bytes = peak.bytes();  // before further runs, which find these outputs alive
      time_runs(plan, inputs, place.device, report);
    }
    if (trace.headings) *trace.headings << "\n";
    if (place.fake) {
      report.outputs = describe_outputs(program, outputs, symbols.run.values);
      return run;
    }
    run.outputs = all_to_cpu(outputs);
    if (plan.gather) run.outputs = plan.gather(std::move(run.outputs));
    compare_outputs(plan, run.outputs, report);
    score_outputs(plan, run.outputs, report);
  } catch (const Error& error) {
    report.error = error.what();
    run.unsupported = dynamic_cast<const NotImplementedError*>(&error) != nullptr;
  }
  return run;
}

}  // namespace sb::tools
