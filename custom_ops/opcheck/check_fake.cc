#include <algorithm>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/custom_ops/opcheck/compare_fakes.h"
#include "switchboard/custom_ops/opcheck/tensor_form.h"
#include "switchboard/dispatch/modes/tensor_snapshot.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb::internal {
namespace {

// A way to run on fake tensors.
struct FakeWay {
  std::string name;                             // "on fake tensors of cuda:0"
  std::optional<Device> device = std::nullopt;  // nullopt: the tensors' own
  bool symbolic = false;
};

FakeTensorOptions options_of(const FakeWay& way) {
  FakeTensorOptions options;
  // Nothing of earlier kernels of the operator.
  options.cache_use = FakeCacheUse::Off;
  if (way.symbolic) options.shape_env = ShapeEnv::create();
  return options;
}

// The call on fakes of its arguments.
Run run_fake(const CheckedCall& call, const FakeTensorMode& mode, const FakeWay& way) {
  FakeTensorMode fake = mode;
  const Stack real = copy_arguments(call.arguments, false);
  Stack fakes;
  for (const IValue& value : real)
    fakes.push_back(
        map_tensors(value, [&](const Tensor& t) { return fake.from_tensor(t, way.device); }));
  const FakeTensorModeGuard active(fake);
  return call.run_on(std::move(fakes));
}

// The one device of the tensors, where no argument names one.
std::optional<Device> common_device(const CheckedCall& call, const Run& run) {
  std::optional<Device> device;
  std::vector<NamedTensor> tensors = run.argument_tensors();
  for (NamedTensor& t : run.result_tensors()) tensors.push_back(std::move(t));
  for (const NamedTensor& t : tensors) {
    if (device && *device != t.tensor.device()) return std::nullopt;
    device = t.tensor.device();
  }
  for (const IValue& value : call.arguments)
    if (value.is_Device()) return std::nullopt;
  return call.tensors().empty() ? std::nullopt : device;
}

Finding check_way(const CheckedCall& call, const Run& real, const FakeWay& way) {
  const FakeTensorMode mode(options_of(way));
  std::optional<Run> fake;
  try {
    fake = run_fake(call, mode, way);
  } catch (const UnsupportedOperatorError& error) {
    // What falls back to its real kernel does so for sizes that are numbers.
    if (way.symbolic) return passed();
    return failed(call, way.name, ", the call throws ", error.kind(), ": ", error.what());
  } catch (const NotImplementedError& error) {
    const bool needs_data = dynamic_cast<const DataDependentOutputError*>(&error) ||
                            dynamic_cast<const DynamicOutputShapeError*>(&error);
    if (needs_data && !way.symbolic) return passed();
    if (needs_data)
      return skipped("no fake rule makes symbols for what data decides: ", error.what());
    return failed(call, way.name, ", the call throws ", error.kind(), ": ", error.what());
  } catch (const Error& error) {
    return failed(call, way.name, ", the call throws ", error.kind(), ": ", error.what());
  }
  std::string text = differing_fakes(real.result_tensors(), fake->result_tensors(), way.device);
  if (text.empty())
    text = differing_fakes(real.argument_tensors(), fake->argument_tensors(), way.device);
  if (text.empty()) text = differing_sharing(real, *fake, {"real", "fake"});
  return text.empty() ? passed() : failed(call, way.name, ", ", text);
}

}  // namespace

Finding check_fake(const CheckedCall& call) {
  const Run real = call.run(false);
  std::vector<FakeWay> ways = {{"on fake tensors"}};
  const std::optional<Device> device = common_device(call, real);
  if (call.options.other_device && device && *device != *call.options.other_device)
    ways.push_back({str_cat("on fake tensors of ", to_string(*call.options.other_device)),
                    call.options.other_device});
  ways.push_back({"on fake tensors with symbolic sizes", std::nullopt, true});
  for (const FakeWay& way : ways) {
    const Finding finding = check_way(call, real, way);
    if (finding.outcome != OpCheckResult::Outcome::Passed) return finding;
  }
  return passed();
}

Finding check_refusal(const CheckedCall& call) {
  Stack given = copy_arguments(call.arguments, false);
  std::vector<std::pair<std::string, TensorSnapshot>> before;
  const auto to_cpu = [](const Tensor& t) { return to_device(t, DeviceType::CPU, t.dtype()); };
  bool has_elements = false;
  for (const NamedTensor& t : Run{&call.schema(), given, {}}.argument_tensors()) {
    before.emplace_back(t.name, TensorSnapshot(t.tensor, to_cpu));
    has_elements = has_elements || t.tensor.numel() > 0;
  }
  std::string refusal;
  try {
    call.run_on(given);
    return passed();
  } catch (const Error& error) {
    refusal = str_cat(error.kind(), ": ", error.what());
  } catch (const std::exception& error) {
    return failed(call, "throws an exception that is no sb::Error: ", error.what());
  } catch (...) {
    return failed(call, "throws what is no sb::Error, and no std::exception");
  }
  for (const auto& [name, snapshot] : before) {
    std::string changed = snapshot.changed_metadata();
    if (changed.empty()) changed = snapshot.changed_data(to_cpu);
    if (!changed.empty())
      return failed(call, "throws, and has changed ", name, ": ", changed, "; ", refusal);
  }
  if (has_elements || before.empty()) return passed();
  const FakeWay way{"on fake tensors"};
  const FakeTensorMode mode(options_of(way));
  try {
    run_fake(call, mode, way);
  } catch (const Error&) {
    return passed();
  }
  return failed(call, "throws, and not on fake tensors, where no tensor has an element: ", refusal);
}

}  // namespace sb::internal
