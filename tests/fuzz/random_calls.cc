#include "switchboard/tests/fuzz/random_calls.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/tensor_snapshot.h"
#include "switchboard/tests/fuzz/random_arguments.h"

namespace sb::fuzz {
namespace {

std::vector<Tensor> tensors_in(const Stack& stack) {
  std::vector<Tensor> tensors;
  for (const IValue& value : stack)
    value.for_each_tensor([&](const Tensor& t) { tensors.push_back(t); });
  return tensors;
}

std::string text_of(const OperatorHandle& op, const Stack& arguments) {
  return str_cat(op.schema().name.to_string(), "(",
                 absl::StrJoin(arguments, ", ",
                               [](std::string* out, const IValue& v) { *out += v.to_string(); }),
                 ")");
}

// What a call said, if it failed; a fault if it did not fail as it should.
struct Attempt {
  Stack results;
  std::optional<std::string> error;
  bool needs_data = false;  // it failed for want of elements
  std::string fault;
};

Attempt attempt(const OperatorHandle& op, const Stack& arguments) {
  Attempt attempt;
  attempt.results = arguments;
  try {
    op.call_boxed(&attempt.results);
  } catch (const Error& e) {
    attempt.error = e.what();
    attempt.needs_data = dynamic_cast<const DataDependentOutputError*>(&e) ||
                         dynamic_cast<const DynamicOutputShapeError*>(&e);
  } catch (const std::exception& e) {
    attempt.error = e.what();
    attempt.fault = str_cat("threw what is no sb::Error: ", e.what());
  }
  return attempt;
}

// Strides count where there is more than one element, and dimensions of more than one.
std::string difference(const Tensor& cpu, const Tensor& meta) {
  if (cpu.defined() != meta.defined()) return "one is undefined";
  if (!cpu.defined()) return "";
  bool same = cpu.dtype() == meta.dtype() && cpu.sizes() == meta.sizes();
  if (same && cpu.numel() > 1) {
    for (size_t d = 0; d < cpu.sizes().size(); ++d)
      same &= cpu.sizes()[d] == 1 || cpu.strides()[d] == meta.strides()[d];
  }
  if (same) return "";
  const auto text = [](const Tensor& t) {
    return str_cat(to_string(t.dtype()), "[", absl::StrJoin(t.sizes(), ", "), "] of strides [",
                   absl::StrJoin(t.strides(), ", "), "]");
  };
  return str_cat("cpu gives ", text(cpu), ", meta ", text(meta));
}

std::string compare(const std::vector<Tensor>& cpu, const std::vector<Tensor>& meta,
                    const char* what) {
  if (cpu.size() != meta.size())
    return str_cat("cpu has ", cpu.size(), " ", what, "s, meta ", meta.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    if (std::string text = difference(cpu[i], meta[i]); !text.empty())
      return str_cat(what, " ", i, ": ", text);
  }
  return "";
}

// Whether all that a call could read is an empty list of tensors: what it makes is on the CPU then,
// wherever its `out` is, as in PyTorch.
bool reads_only_an_empty_list(const FunctionSchema& schema, const Stack& arguments) {
  bool list = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    if (argument.is_write() || base_of(argument.type.code()) != BaseType::Tensor) continue;
    if (!tensors_in({arguments[i]}).empty()) return false;
    list |= outer_modifier(argument.type.code()) == TypeModifier::List;
  }
  return list;
}

}  // namespace

Outcome random_call(const OperatorHandle& op, uint64_t seed) {
  const ArgumentPlan plan(op.schema(), seed);
  const Stack cpu_arguments = plan.build(DeviceType::CPU);
  const Stack meta_arguments = plan.build(DeviceType::Meta);
  Outcome outcome;
  outcome.call = text_of(op, cpu_arguments);

  std::vector<TensorSnapshot> before;
  for (const Tensor& t : tensors_in(cpu_arguments)) before.emplace_back(t, nullptr);
  const Attempt cpu = attempt(op, cpu_arguments);
  outcome.succeeded = !cpu.error;
  outcome.fault = cpu.fault;
  if (cpu.error && outcome.fault.empty()) {
    for (size_t i = 0; i < before.size() && outcome.fault.empty(); ++i) {
      std::string changed = before[i].changed_metadata();
      if (changed.empty()) changed = before[i].changed_data(nullptr);
      if (!changed.empty())
        outcome.fault = str_cat("failed (", *cpu.error, ") and changed tensor ", i, ": ", changed);
    }
  }
  if (!outcome.fault.empty()) return outcome;

  const Attempt meta = attempt(op, meta_arguments);
  if (!meta.fault.empty()) {
    outcome.fault = str_cat("on meta: ", meta.fault);
    return outcome;
  }
  if (cpu.error) return outcome;
  if (meta.error) {
    if (!meta.needs_data && !reads_only_an_empty_list(op.schema(), cpu_arguments))
      outcome.fault = str_cat("cpu succeeds, meta refuses: ", *meta.error);
    return outcome;
  }
  outcome.fault = compare(tensors_in(cpu.results), tensors_in(meta.results), "result");
  if (outcome.fault.empty())
    outcome.fault = compare(tensors_in(cpu_arguments), tensors_in(meta_arguments), "argument");
  return outcome;
}

}  // namespace sb::fuzz
