#include "switchboard/tools/device_run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>

#include "switchboard/core/error.h"
#include "switchboard/tools/peak_memory.h"
#include "switchboard/tools/program_tensors.h"

namespace sb::tools {
namespace {

// Checks each value as it is made, and heads each node's part of a trace.
class Checker : public RunObserver {
 public:
  Checker(const io::Program& program, Device device, std::ostream* headings)
      : program_(program), device_(device), headings_(headings) {}

  void on_node(size_t node) override {
    if (headings_) *headings_ << label_of(program_.nodes[node]) << "\n";
  }
  void on_value(size_t node, const std::string& name, const Tensor& tensor) override {
    if (const auto fault = metadata_fault(tensor, program_.meta_of(name), device_))
      faults_.push_back(str_cat(program_.place_of(node), ": ", program_.nodes[node].target(),
                                ": value '", name, "': ", *fault));
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  const io::Program& program_;
  Device device_;
  std::ostream* headings_;
  std::vector<std::string> faults_;
};

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

bool is_user_tensor(const io::OutputSpec& output) {
  return output.kind == io::OutputKind::User && std::holds_alternative<io::TensorRef>(output.arg);
}

const std::string& name_of(const io::OutputSpec& output) {
  return std::get<io::TensorRef>(output.arg).name;
}

std::vector<std::string> describe_outputs(const io::Program& program,
                                          const std::vector<Tensor>& outputs) {
  std::vector<std::string> text;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_user_tensor(program.outputs[i]))
      text.push_back(str_cat(name_of(program.outputs[i]), " ", outputs[i].describe()));
  return text;
}

// Outputs are on the CPU here. One of the wrong dtype or shape has a fault already.
void compare_outputs(const RunPlan& plan, const std::vector<Tensor>& outputs,
                     DeviceReport& report) {
  const std::vector<io::OutputSpec>& specs = plan.archive.program.outputs;
  for (size_t i = 0; i < plan.expected.size(); ++i) {
    const Tensor& expected = plan.expected[i];
    if (!expected.defined() || outputs[i].dtype() != expected.dtype() ||
        outputs[i].sizes() != expected.sizes())
      continue;
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
    if (!is_user_tensor(specs[i])) continue;
    report.score = score(outputs[i], plan.labels);
    return;  // the first output is the one with labels
  }
}

std::vector<Tensor> all_to_cpu(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> copies;
  for (const Tensor& output : outputs) copies.push_back(output.defined() ? to_cpu(output) : output);
  return copies;
}

double median_time(const RunPlan& plan, const std::vector<Tensor>& inputs, Device device) {
  std::vector<double> times;
  for (int i = 0; i < plan.repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    plan.runner.run(inputs, device);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    times.push_back(time.count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

std::string label_of(const io::Node& node) {
  if (!node.name.empty() || node.outputs.empty()) return node.name;
  const auto* ref = std::get_if<io::TensorRef>(&node.outputs[0]);
  return ref ? ref->name : node.target();
}

std::vector<Tensor> move_inputs(const RunPlan& plan, Mover& mover) {
  const std::vector<io::InputSpec>& specs = plan.archive.program.inputs;
  std::vector<Tensor> moved;
  for (size_t i = 0; i < specs.size(); ++i) {
    const Tensor& input = plan.inputs[i];
    if (specs[i].kind == io::InputKind::Constant)
      moved.emplace_back();
    else if (!input.defined())
      moved.push_back(mover.make(input_meta(plan.archive, specs[i])));
    else if (specs[i].kind == io::InputKind::User)
      moved.push_back(mover.move_as(input, input_meta(plan.archive, specs[i])));
    else
      moved.push_back(mover.move(input));
  }
  return moved;
}

DeviceRun run_on(const RunPlace& place, const RunPlan& plan, const RunTrace& trace) {
  const io::Program& program = plan.archive.program;
  DeviceRun run;
  DeviceReport& report = run.report;
  report.place = place.name;
  try {
    Mover mover(place);
    const PeakMemory peak(mover.memory());
    std::vector<Tensor> outputs;
    {
      const std::vector<Tensor> inputs = move_inputs(plan, mover);
      const PeaksElsewhere elsewhere(place.device);
      Checker checker(program, place.device, trace.headings);
      if (trace.headings) *trace.headings << "on " << place.name << "\n";
      std::optional<TraceCalls> tracer;
      if (trace.sink) tracer.emplace(*trace.sink);
      CallCounter counter;
      reset_fallback_stats(place.device.type);
      outputs = plan.runner.run(inputs, place.device, &checker);
      report.kernels = counter.counts();
      if (!place.fake) report.fallbacks = fallback_stats(place.device.type);
      report.faults = checker.faults();
      if (!place.fake) report.peak_elsewhere = elsewhere.bytes();
      if (plan.repeats > 0) report.milliseconds = median_time(plan, inputs, place.device);
    }
    report.peak_bytes = peak.bytes();
    if (trace.headings) *trace.headings << "\n";
    if (place.fake) {
      report.outputs = describe_outputs(program, outputs);
      return run;
    }
    run.outputs = all_to_cpu(outputs);
    compare_outputs(plan, run.outputs, report);
    score_outputs(plan, run.outputs, report);
  } catch (const Error& error) {
    report.error = error.what();
    run.unsupported = dynamic_cast<const NotImplementedError*>(&error) != nullptr;
  }
  return run;
}

}  // namespace sb::tools
