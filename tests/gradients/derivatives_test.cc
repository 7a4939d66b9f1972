// Every derivative, against finite differences, and the derivatives of derivatives.

#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "catch2/catch.hpp"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/checked_call.h"
#include "switchboard/custom_ops/opcheck/tensor_form.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/sample.h"

namespace sb::test {
namespace {

using internal::CheckedCall;
using Tensors = std::vector<Tensor>;

// Whether the operator has a kernel of its own at the autograd key.
bool has_derivative(const OperatorHandle& op) {
  Dispatcher& dispatcher = default_dispatcher();
  const Resolution found = dispatcher.resolve(op.entry(), DispatchKey::AutogradCPU);
  if (found.rule != ResolutionRule::AutogradKernel && found.rule != ResolutionRule::Kernel)
    return false;
  return !dispatcher.inspect([&] { return found.kernel->function.entries.is_fallthrough(); });
}
// Whether it is composed of others.
bool is_composed(const OperatorHandle& op) {
  Dispatcher& dispatcher = default_dispatcher();
  if (dispatcher.resolve(op.entry(), DispatchKey::AutogradCPU).rule == ResolutionRule::MathKernel)
    return true;
  return dispatcher.resolve(op.entry(), DispatchKey::AutogradCPU).rule ==
             ResolutionRule::BackendFallback &&
         dispatcher.resolve(op.entry(), DispatchKey::CPU).rule ==
             ResolutionRule::DefaultBackendKernel;
}
bool is_random(const OperatorHandle& op) {
  return op.entry().tags().has(Tag::nondeterministic_seeded);
}
bool has_out(const OperatorHandle& op) {
  for (const Argument& argument : op.schema().arguments)
    if (argument.is_out()) return true;
  return false;
}

// Whose gradients are not those of finite differences, and should not be.
bool is_exempt(const OperatorHandle& op) {
  static const std::set<std::string_view> names = {
      // They round, and gradients do not.
      "aten::_cast_Float", "aten::_cast_Half", "aten::dequantize",
      "aten::fake_quantize_per_tensor_affine", "aten::fake_quantize_per_tensor_affine_cachemask",
      "aten::fake_quantize_per_channel_affine", "aten::fake_quantize_per_channel_affine_cachemask",
      // Other memory, or more of it, has no derivative.
      "aten::set", "aten::set_", "aten::resize", "aten::resize_", "aten::resize_as",
      "aten::resize_as_",
      // Writes, in PyTorch too, to what cumprod has saved.
      "aten::vander",
      // By the other argument only, which is a number here.
      "aten::special_zeta.other_scalar"};
  return names.count(op.name().name) || names.count(op.name().to_string());
}

// What is wrong with the derivatives of the call; "" if nothing.
std::string fault_of(const OperatorHandle& op, const Sample& sample) {
  const OpCheckOptions none;
  try {
    const CheckedCall call{op, bind_arguments(op.schema(), sample.positional, sample.keyword),
                           none};
    const DifferentiableFunction f = [&, plain = internal::pure_form(call)](Tensors inputs) {
      for (size_t i : sample.symmetric)
        inputs[i] = mul_Scalar(add(inputs[i], transpose(inputs[i], -2, -1)), 0.5);
      return plain(inputs);
    };
    const Tensors inputs = internal::tensors_in(call.arguments);
    gradcheck(f, inputs);
    if (!sample.once) gradgradcheck(f, inputs);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("samples are read as they are written") {
  const Sample sample = parse_sample(
      "once cat {f[2,3],c[1]} 3 0.5 true None \"mean\" [1,2] [0.5,2.0] [true] b=i[2]{1,0} "
      "c=float64");
  CHECK(sample.op == "aten::cat");
  CHECK(sample.once);
  CHECK(sample.positional.size() == 9);
  CHECK(sample.positional[0].to_tensor_list()[1].dtype() == DType::Complex128);
  CHECK(sample.positional[1].to_int() == 3);
  CHECK(sample.positional[2].to_double() == 0.5);
  CHECK(sample.positional[5].to_string_view() == "mean");
  CHECK(sample.positional[6].to_int_list()[1] == 2);
  CHECK(sample.positional[7].to_double_list()[1] == 2);
  CHECK(sample.keyword[0].first == "b");
  CHECK(sample.keyword[0].second.to_tensor().data<int64_t>()[0] == 1);
  CHECK(sample.keyword[1].second.to_dtype() == DType::Float64);
  CHECK_THROWS_AS(parse_sample("add x"), ValueError);
  CHECK_THROWS_AS(parse_sample("add [1,2"), ValueError);
}

TEST_CASE("derivatives and their derivatives are those of finite differences") {
  std::map<std::string, std::vector<std::string>> lines;
  for (const std::string& line : sample_lines()) {
    const std::string op = parse_sample(line).op;
    INFO(line);
    CHECK(default_dispatcher().find_op(op));
    lines[op].push_back(line);
  }
  size_t own = 0, composed = 0;
  std::vector<std::string> without, unfinished, faults;
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    if (op.name().ns() != "aten" || has_out(op) || is_random(op) || is_exempt(op)) continue;
    const bool is_own = has_derivative(op);
    if (!is_own && !is_composed(op)) continue;
    std::vector<std::string> samples = lines[op.name().to_string()];
    if (samples.empty())
      if (std::string line = make_up_sample(op); !line.empty()) samples.push_back(std::move(line));
    if (samples.empty() && is_own) without.push_back(op.name().to_string());
    if (!samples.empty()) ++(is_own ? own : composed);
    for (const std::string& line : samples) {
      const std::string fault = fault_of(op, parse_sample(line));
      if (fault.empty()) continue;
      // A part of it may have no derivative, as in PyTorch, and says so when it is asked. Where the
      // call itself says so, its parts gave constants, and so should it: in a graph of its parts it
      // is one.
      const size_t missing = fault.find(": no derivative is registered");
      const bool is_missing =
          missing != std::string::npos && fault.substr(0, missing) != op.name().to_string();
      (is_missing && !is_own ? unfinished : faults).push_back(str_cat(line, "\n    ", fault));
    }
  }
  WARN(own << " operators with a derivative of their own and " << composed
           << " that are composed of others were checked\nwithout a sample: "
           << absl::StrJoin(without, ", ") << "\nwith a part that has no derivative:\n"
           << absl::StrJoin(unfinished, "\n"));
  INFO(absl::StrJoin(faults, "\n"));
  CHECK(faults.size() == 0);
  // What is checked here must not become less unseen.
  CHECK(own >= 530);
  CHECK(composed >= 370);
}

}  // namespace
}  // namespace sb::test
