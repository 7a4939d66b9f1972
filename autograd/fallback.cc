// What the autograd keys do with operators that have no derivative, where this room is linked: a
// gradient is never lost in silence.

#include "switchboard/autograd/fallback.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "switchboard/autograd/fallback_call.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {
namespace internal {

DispatchKeySet derived_through_keys(const OperatorHandle& op, DispatchKeySet keys) {
  if (!op.entry().has_tag(Tag::derived_through)) return {};
  const DispatchKey key = runtime_key(DispatchKey::Dense, keys.highest_backend());
  // Functional tensors have no such key, and functionalisation sees the parts.
  if (!keys.has(key) && !keys.has_any({DispatchKey::Functionalize, DispatchKey::Python})) return {};
  const DispatchTable& table = op.entry().resolved_table();
  if (table.rules[slot_of(key)] != ResolutionRule::DefaultBackendKernel) return {};
  constexpr DispatchKeySet kLazy{DispatchKey::Conjugate, DispatchKey::Negative};
  return (keys & kLazy) | DispatchKeySet(key);
}

namespace {

// Backward through an operator that has no derivative: an error that says what to register.
class NotImplementedNode final : public GradNode {
 public:
  explicit NotImplementedNode(OperatorHandle op) : op_(std::move(op)) {}
  std::string name() const override { return backward_name(op_.name().to_string()); }
  TensorVector apply(TensorVector) override {
    const OperatorEntry& entry = op_.entry();
    const std::string defined = entry.dispatcher().inspect(
        [&] { return entry.has_schema() ? entry.describe_schema() : "nowhere any more"; });
    SB_THROW(RuntimeError, op_.name().to_string(),
             ": no derivative is registered; derive() it or register_autograd() one, "
             "not_differentiable() if it has none; or define it with Tag::derived_through, where "
             "its kernel is composed of operators that have derivatives\ndefined: ",
             defined);
  }

 private:
  OperatorHandle op_;  // its texts are made when somebody asks
};

std::atomic<AutogradFallbackMode> fallback_mode{AutogradFallbackMode::Error};

void warn_of_backward(const OperatorHandle& op) {
  warn(str_cat(op.name().to_string(),
               ": no derivative is registered, and backward takes its results for constants; "
               "derive() it, register_autograd() one, or not_differentiable() if it has none"));
}

// Backward through an operator that has no derivative where only a warning is asked for.
class WarningNode final : public GradNode {
 public:
  explicit WarningNode(OperatorHandle op) : op_(std::move(op)) {}
  std::string name() const override { return backward_name(op_.name().to_string()); }
  TensorVector apply(TensorVector) override {
    warn_of_backward(op_);
    return TensorVector(edges().size());
  }

 private:
  OperatorHandle op_;
};

// The modes Nothing and Warn: the call goes on, and the kernel's own calls are recorded.
void pass_on(const OperatorHandle& op, DispatchKeySet keys, StackCall& call,
             AutogradFallbackMode mode) {
  const bool warns = mode == AutogradFallbackMode::Warn;
  const StackCall::Written written = warns ? call.written() : StackCall::Written();
  NodePtr node;
  std::vector<const TensorImpl*> given;
  if (warns) {
    node = make_intrusive<WarningNode>(op);
    call.each_argument([&](const Tensor& t) {
      node->add_edge(gradient_edge(t));
      given.push_back(t.impl());
    });
  }
  call.go_on(keys - kAutogradFunctionalities);
  if (!warns) return;
  const auto say = [&](const Tensor& t) {
    if (!t.defined() || !is_differentiable(t.dtype())) return;
    if (needs_grad(t))
      register_hook(t, [op](const Tensor&) {
        warn_of_backward(op);
        return Tensor();  // the gradient as it is
      });
    else
      set_history(t, node);
  };
  for (const Tensor& t : written) say(t);
  // A result that is an argument has its own history.
  call.each_result([&](const Tensor& t) {
    if (std::find(given.begin(), given.end(), t.impl()) == given.end()) say(t);
  });
}

// A result on the memory of an argument, of which neither the schema nor what the kernel called has
// spoken: a write to it would change the argument, and not the argument's history.
void note_hidden_view(const std::vector<Tensor>& arguments, const Tensor& result) {
  const GradMeta* const meta = find_grad_meta(result);
  if ((meta && meta->view) || !result.storage()) return;
  for (const Tensor& t : arguments) {
    if (!t.defined() || t.storage() != result.storage()) continue;
    return note_view(t, result, ViewOrigin::CustomFunction);
  }
}

// At the autograd keys. As `torch::autograd::autogradNotImplementedFallback`, but that operators
// with Tag::derived_through are derived through those that they are composed of. All others are
// opaque: what their kernels call is not recorded, and what they do by pointer could not be.
void record(const OperatorHandle& op, DispatchKeySet keys, StackCall& call) {
  const AutogradFallbackMode mode = autograd_fallback_mode();
  if (mode != AutogradFallbackMode::Error && !op.entry().has_tag(Tag::derived_through))
    return pass_on(op, keys, call, mode);
  SB_CHECK(!call.has_out(), call.op_name(),
           ": an out= form records nothing, and an argument requires a gradient; call the operator "
           "without out, or under no_grad");
  const auto written = call.written();
  for (const Tensor& t : written) check_may_write(call.op_name(), t);
  // Before the call, which takes the arguments off the stack and may write to them.
  std::vector<const TensorImpl*> given;
  std::vector<Tensor> arguments;
  call.each_argument([&](const Tensor& t) {
    given.push_back(t.impl());
    arguments.push_back(t);
  });
  const auto make_node = [&] {
    NodePtr node = make_intrusive<NotImplementedNode>(op);
    call.each_argument([&](const Tensor& t) { node->add_edge(gradient_edge(t)); });
    return node;
  };
  const NodePtr node = make_node();
  std::vector<NodePtr> written_nodes;
  std::vector<size_t> written_edges;
  for (const Tensor& t : written) {
    written_nodes.push_back(written_nodes.empty() ? node : make_node());
    written_edges.push_back(
        static_cast<size_t>(std::ranges::find(given, t.impl()) - given.begin()));
  }
  const DispatchKeySet composite = derived_through_keys(op, keys);
  if (!composite.empty()) {
    // In this scope autograd is not excluded: what the kernel calls is recorded. A result that
    // nothing recorded leads to the error; beside others that were, it is a constant.
    call.go_on(composite);
    bool recorded = false;
    call.each_result(
        [&](const Tensor& t) { recorded = recorded || (t.defined() && needs_grad(t)); });
    if (recorded) return;
    call.each_result([&](const Tensor& t) {
      if (t.defined() && is_differentiable(t.dtype()) && !needs_grad(t) && !find_grad_meta(t))
        set_history(t, node);
    });
    return;
  }
  {
    const BelowAutogradGuard below;
    call.go_on(keys - kAutogradFunctionalities);
  }
  // Each its own, as a view's base has been written to as well.
  for (size_t i = 0; i < written.size(); ++i)
    rebase_history(written[i], written_nodes[i], written_edges[i]);
  // A result that is an argument has its history: that of what was written to, or its own, as the
  // derivative of what is handed back is 1.
  call.each_result([&](const Tensor& t) {
    if (!t.defined() || std::find(given.begin(), given.end(), t.impl()) != given.end()) return;
    set_history(t, node);
    note_hidden_view(arguments, t);
  });
}

// Whether the fallback has something to do for the operator: it takes tensors, and gives some or
// writes to some.
bool has_gradients(const FunctionSchema& schema) {
  const bool takes = std::any_of(schema.arguments.begin(), schema.arguments.end(),
                                 [](const Argument& a) { return a.type.has_tensor(); });
  const bool gives = std::any_of(schema.returns.begin(), schema.returns.end(),
                                 [](const Return& r) { return r.type.has_tensor(); });
  return takes && (gives || schema.is_mutable());
}

struct AutogradFallback {
  static bool records(const auto& call) { return is_grad_enabled() && call.any_needs_grad(); }
  static void pass(auto& call, DispatchKeySet keys) {
    const BelowAutogradGuard below;
    call.go_on(keys - kAutogradFunctionalities);
  }
  static void call_boxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    StackCall call(op, stack);
    records(call) ? record(op, keys, call) : pass(call, keys);
  }
  static bool call_typed(FrameCall& call, DispatchKeySet keys) {
    if (records(call)) return false;
    pass(call, keys);
    return true;
  }
};

const ExplainFallback explain_fallback(DispatchKey::Autograd, [](CallPath& path,
                                                                 const PathCall& c) {
  Stack arguments = c.arguments;
  const StackCall call(c.op, &arguments);
  if (is_grad_enabled() && call.any_needs_grad()) {
    if (autograd_fallback_mode() != AutogradFallbackMode::Error &&
        !c.op.entry().has_tag(Tag::derived_through))
      return path.enter(c.op, c.keys - kAutogradFunctionalities, c.arguments);
    if (call.has_out())
      return path.fails("an out= form records nothing, and an argument requires a gradient");
    const CallPin pin;
    const DispatchKeySet composite = derived_through_keys(c.op, c.keys);
    if (!composite.empty()) return path.enter(c.op, composite, c.arguments);
  }
  const BelowAutogradGuard below;
  path.enter(c.op, c.keys - kAutogradFunctionalities, c.arguments);
});

const ExplainConvention explain_others(DispatchKey::Autograd, explain_own_kernel);

}  // namespace

void explain_own_kernel(CallPath& path, const PathCall& c) {
  path.decides();
  explain_recording(path, c);
}

void explain_recording(CallPath& path, const PathCall& c) {
  const BelowRecordingGuard below;
  path.enter(c.op, keys_below_recording(c.keys), c.arguments);
}
}  // namespace internal

AutogradFallbackMode autograd_fallback_mode() {
  return internal::fallback_mode.load(std::memory_order_relaxed);
}
void set_autograd_fallback_mode(AutogradFallbackMode mode) {
  internal::fallback_mode.store(mode, std::memory_order_relaxed);
}

SB_LIBRARY_IMPL(_, AutogradOther, m) {
  const KernelFunction fallback = internal::make_fallback<internal::AutogradFallback>();
  m.fallback_for(DispatchKey::AutogradOther, internal::has_gradients, fallback);
  for (int b = 0; b < kNumBackends; ++b) {
    m.fallback_for(runtime_key(DispatchKey::AutogradFunctionality, static_cast<Backend>(b)),
                   internal::has_gradients, fallback);
  }
}

}  // namespace sb
