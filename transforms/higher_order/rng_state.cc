#include "switchboard/transforms/higher_order/rng_state.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/higher_order/functional_op.h"

namespace sb {
namespace {

std::vector<uint8_t> state_now() {
  const Generator generator = default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator->mutex);
  return generator->state();
}
void set_state(const std::vector<uint8_t>& state) {
  const Generator generator = default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator->mutex);
  generator->set_state(state);
}

// Fake tensors and those on Meta have none.
bool has_data(const Tensor& t) { return t.is_cpu() && !t.impl()->mode_data(); }

std::vector<IValue> run_operator(std::string_view who, const IValue& op, const IValue& args) {
  const OpOverload overload = higher_order::functional_op(who, op);
  std::vector<IValue> list;
  if (args.is_TensorList()) {
    list.assign(args.to_tensor_list().begin(), args.to_tensor_list().end());
  } else {
    SB_CHECK_TYPE(args.is_List(), who, ": args: expected a list, got ", args.tag_name());
    list.assign(args.to_list().begin(), args.to_list().end());
  }
  args.for_each_tensor([&](const Tensor& t) {
    SB_CHECK_NOT_IMPLEMENTED(!t.defined() || t.is_cpu() || t.impl()->mode_data() || t.is_meta(),
                             who, ": only the CPU's generator is known, got ", t.describe());
  });
  const std::vector<IValue> results = overload.call(list);
  std::vector<IValue> tensors;
  for (const IValue& result : results)
    result.for_each_tensor([&](const Tensor& t) { tensors.emplace_back(t); });
  return tensors;
}

std::vector<IValue> run_and_save(const std::vector<IValue>& arguments) {
  const std::vector<uint8_t> state = state_now();
  const Tensor saved = empty({static_cast<int64_t>(state.size())}, DType::UInt8);
  if (has_data(saved)) std::memcpy(saved.data<uint8_t>(), state.data(), state.size());
  std::vector<IValue> results =
      run_operator("higher_order::run_and_save_rng_state", arguments[0], arguments[1]);
  results.insert(results.begin(), saved);
  return results;
}

std::vector<IValue> run_with(const std::vector<IValue>& arguments) {
  constexpr std::string_view kName = "higher_order::run_with_rng_state";
  SB_CHECK_TYPE(arguments[0].is_Tensor() && arguments[0].to_tensor().defined() &&
                    arguments[0].to_tensor().dtype() == DType::UInt8,
                kName, ": rng_state: expected a tensor of bytes, got ", arguments[0].to_string());
  const Tensor& state = arguments[0].to_tensor();
  struct Restore {
    std::optional<std::vector<uint8_t>> before;
    ~Restore() {
      if (before) set_state(*before);
    }
  } restore;
  if (has_data(state)) {
    SB_CHECK(state.is_contiguous(), kName, ": rng_state: expected a contiguous tensor, got ",
             state.describe());
    restore.before = state_now();
    const uint8_t* const bytes = state.data<uint8_t>();
    try {
      set_state({bytes, bytes + state.numel()});
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(kName, ": rng_state: "));
    }
  }
  return run_operator(kName, arguments[1], arguments[2]);
}

const higher_order::ComposedHop& save_hop() {
  // Never destroyed: calls may come while the program ends.
  static const auto* const hop = new higher_order::ComposedHop(
      {.name = "run_and_save_rng_state", .parameters = {"op", "args"}, .compose = run_and_save});
  return *hop;
}
const higher_order::ComposedHop& with_hop() {
  static const auto* const hop =
      new higher_order::ComposedHop({.name = "run_with_rng_state",
                                     .parameters = {"rng_state", "op", "args"},
                                     .compose = run_with});
  return *hop;
}

// So that they are found by their names from the start.
[[maybe_unused]] const auto& save_at_start = save_hop();
[[maybe_unused]] const auto& with_at_start = with_hop();

}  // namespace

HigherOrderOperator& run_and_save_rng_state_op() { return save_hop().op(); }
HigherOrderOperator& run_with_rng_state_op() { return with_hop().op(); }

std::pair<Tensor, std::vector<Tensor>> run_and_save_rng_state(const std::string& op,
                                                              std::vector<IValue> args) {
  std::vector<Tensor> results =
      control_flow::tensors_of("higher_order::run_and_save_rng_state", "results",
                               run_and_save_rng_state_op()({op, std::move(args)}));
  Tensor state = results.at(0);
  results.erase(results.begin());
  return {std::move(state), std::move(results)};
}

std::vector<Tensor> run_with_rng_state(const Tensor& rng_state, const std::string& op,
                                       std::vector<IValue> args) {
  return control_flow::tensors_of("higher_order::run_with_rng_state", "results",
                                  run_with_rng_state_op()({rng_state, op, std::move(args)}));
}

}  // namespace sb
