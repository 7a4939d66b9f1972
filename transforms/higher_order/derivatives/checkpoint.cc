#include "switchboard/transforms/higher_order/derivatives/checkpoint.h"

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "switchboard/autograd/engine.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/autocast/autocast_state.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"

namespace sb {
namespace {

using control_flow::Tensors;

// Collects what a function uses and has not made, and refuses what it may not do twice.
class CheckpointWatch final : public DispatchMode {
 public:
  // `recorded` says that a tensor is known to require a gradient: it refuses at once.
  CheckpointWatch(std::string who, bool recorded) : who_(std::move(who)), recorded_(recorded) {}

  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    const size_t count = op.entry().num_arguments();
    const auto arguments = absl::MakeConstSpan(*stack).last(count);
    const FunctionSchema& schema = op.schema();
    const std::string name = op.name().to_string();
    const bool random = op.entry().has_tag(Tag::nondeterministic_seeded);
    absl::flat_hash_set<const void*> given;
    for (size_t i = 0; i < count; ++i) {
      if (arguments[i].is_Generator())
        refuse(str_cat(name,
                       " draws from a generator that it is given, and backward would draw "
                       "other numbers"));
      const bool written = schema.arguments[i].is_write();
      arguments[i].for_each_tensor([&](const Tensor& t) {
        if (!t.defined()) return;
        use(t);
        given.insert(memory_of(t));
        if (written && !made_.contains(memory_of(t)))
          refuse(str_cat(name, " writes to ", t.describe(),
                         ", which the function has not made, and backward would write to it "
                         "again; write to a clone"));
        if (random && !t.is_cpu())
          refuse(str_cat(name, " draws random numbers for ", t.describe(),
                         ", and backward would draw others"));
      });
    }
    op.call_boxed(stack);
    for (const IValue& result : *stack) {
      result.for_each_tensor([&](const Tensor& t) {
        if (!t.defined()) return;
        known_.insert(t.impl());
        if (!given.contains(memory_of(t))) made_.insert(memory_of(t));
      });
    }
  }
  std::string name() const override { return "CheckpointWatch"; }
  bool only_watches() const override { return true; }

  // An argument of a call, or a result of the function.
  void use(const Tensor& t) {
    if (known_.insert(t.impl()).second) used_.push_back(t);
  }
  const Tensors& used() const { return used_; }
  // Throws what it has refused.
  void check() const { SB_CHECK_NOT_IMPLEMENTED(refused_.empty(), who_, ": ", refused_); }

 private:
  void refuse(std::string text) {
    if (refused_.empty()) refused_ = std::move(text);
    if (recorded_) check();
  }
  // Only storages that came to be while the function ran are made by it: those from outside are
  // alive, and at other addresses.
  static const void* memory_of(const Tensor& t) { return t.storage().get(); }

  std::string who_, refused_;
  bool recorded_;
  absl::flat_hash_set<const void*> known_, made_;
  Tensors used_;
};

// For a scope, the CPU's generator goes on from another state.
class RandomState {
 public:
  explicit RandomState(const std::vector<uint8_t>& state) : before_(now()) { set(state); }
  ~RandomState() { set(before_); }
  RandomState(const RandomState&) = delete;
  RandomState& operator=(const RandomState&) = delete;

  static std::vector<uint8_t> now() {
    const Generator generator = default_cpu_generator();
    const std::lock_guard<std::mutex> lock(generator->mutex);
    return generator->state();
  }

 private:
  static void set(const std::vector<uint8_t>& state) {
    const Generator generator = default_cpu_generator();
    const std::lock_guard<std::mutex> lock(generator->mutex);
    generator->set_state(state);
  }

  std::vector<uint8_t> before_;
};

// The gradients of the inputs: those of what the function gives when it is called again.
Tensors call_again(const control_flow::FunctionArgument& function,
                   const std::vector<uint8_t>& random_state, const AutocastState& autocast_state,
                   const Tensors& operands, const Tensors& inputs, const TensorVector& grads) {
  internal::BackwardRun run;
  run.create_graph = is_grad_enabled();
  run.keep_graph = run.create_graph;
  run.cut = true;
  Tensors results;
  {
    const GradModeGuard on(true);
    const RandomState state(random_state);
    const AutocastStateGuard autocast(autocast_state);
    WithoutEffects without(function.name());
    const ModeGuard active(&without);
    results = function(operands);
  }
  for (size_t i = 0; i < results.size() && i < grads.size(); ++i) {
    Edge edge = grads[i].defined() ? gradient_edge(results[i]) : Edge();
    if (!edge) continue;
    run.roots.push_back(std::move(edge));
    run.grads.push_back(grads[i]);
  }
  for (const Tensor& input : inputs) run.captures.push_back(gradient_edge(input));
  if (run.roots.empty()) return Tensors(inputs.size());
  return internal::run_backward(run);
}

void run_checkpoint(const higher_order::BaseHop& hop, DispatchKeySet below, Stack* stack) {
  const higher_order::BaseHopCall call(hop, *stack);
  const std::vector<uint8_t> random_state = RandomState::now();
  bool any = false;
  for (const Tensor& t : call.operands) any = any || requires_grad(t);
  CheckpointWatch watch(call.function.name(), any);
  Stack arguments = *stack;
  arguments[hop.options().function] = Callable::make([&](std::vector<IValue> values) {
    const ModeGuard active(&watch);
    return control_flow::values_of(
        call.function(control_flow::tensors_of(hop.op().name(), "args", std::move(values))));
  });
  {
    // The call goes on to modes that watch; when it comes back here, nothing is recorded.
    const NoGradGuard off;
    hop.op().redispatch_boxed(below, &arguments);
  }
  Tensors results = control_flow::tensors_of(hop.op().name(), "results", std::move(arguments));
  for (const Tensor& result : results) watch.use(result);
  control_flow::Recorded recorded;
  for (const Tensor& t : call.operands) watch.use(t);
  for (const Tensor& t : watch.used())
    (requires_grad(t) ? recorded.inputs : recorded.others).push_back(t);
  if (recorded.inputs.empty()) {
    *stack = control_flow::values_of(results);
    return;
  }
  watch.check();
  recorded.num_returned = results.size();
  for (const Tensor& result : results)
    recorded.derived.push_back(is_differentiable(result.dtype()));
  recorded.results = std::move(results);
  recorded.backward = [function = call.function, operands = call.operands, random_state,
                       autocast_state = AutocastState::now()](const Tensors& inputs, const Tensors&,
                                                              const Tensors&,
                                                              const TensorVector& grads) {
    return call_again(function, random_state, autocast_state, operands, inputs, grads);
  };
  *stack = control_flow::values_of(
      control_flow::record({hop.op(), "in eager mode", below}, std::move(recorded)));
}

const higher_order::BaseHop* make_checkpoint(std::string name, std::string function,
                                             std::string graph_name) {
  return new higher_order::BaseHop({.name = std::move(name),
                                    .parameters = {std::move(function), "args"},
                                    .function = 0,
                                    .operands = 1,
                                    .graph_name = std::move(graph_name),
                                    .run_recorded = run_checkpoint});
}

}  // namespace

const higher_order::BaseHop& wrap_activation_checkpoint_hop() {
  static const auto* const hop =
      make_checkpoint("wrap_activation_checkpoint", "function", "checkpoint_body");
  return *hop;
}

const higher_order::BaseHop& tag_activation_checkpoint_hop() {
  static const auto* const hop =
      make_checkpoint("tag_activation_checkpoint", "gmod", "checkpoint_body");
  return *hop;
}

namespace {
// So that they are found by their names from the start.
[[maybe_unused]] const auto& wrap_checkpoint_at_start = wrap_activation_checkpoint_hop();
[[maybe_unused]] const auto& tag_checkpoint_at_start = tag_activation_checkpoint_hop();
}  // namespace

}  // namespace sb
