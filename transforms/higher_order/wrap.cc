#include "switchboard/transforms/higher_order/wrap.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/modes/mode.h"

namespace sb {
namespace {

constexpr std::string_view kSetGradName = "higher_order::wrap_with_set_grad_enabled";

void check_enable_grad(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[0].is_Bool(), kSetGradName, ": enable_grad: expected a bool, got ",
                arguments[0].tag_name());
}

// Of the innermost region that runs.
thread_local bool region_enables_grad = true;

// Refuses what a function calls with another grad mode than its region has: the graph of the region
// has one.
class GradModeWatch final : public DispatchMode {
 public:
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    op.call_boxed(stack);
    if (internal::grad_hooks->is_grad_enabled() == region_enables_grad) return;
    for (const IValue& result : absl::MakeConstSpan(*stack).last(op.schema().returns.size())) {
      result.for_each_tensor([&](const Tensor& t) {
        const bool derives = t.defined() && (is_floating_point(t.dtype()) || is_complex(t.dtype()));
        SB_CHECK_NOT_IMPLEMENTED(
            !derives, kSetGradName, ": wrapped_func: under TracingMode: it calls ",
            op.name().to_string(), " with gradients ", region_enables_grad ? "off" : "on",
            ", and a graph of it has them ", region_enables_grad ? "on" : "off",
            "; make that a region of its own");
      });
    }
  }
  std::string name() const override { return "GradModeWatch"; }
  bool only_watches() const override { return true; }
};

// Whether a graph is recorded in which a region would lose another grad mode.
bool loses_grad_mode(bool region_enables) {
  const auto* const trace = dynamic_cast<const TracingMode*>(get_mode(ModeKey::Proxy));
  return trace && !trace->paused() && !(region_enables && trace->options().keep_no_grad);
}

void with_grad_mode(const std::vector<IValue>& arguments, absl::FunctionRef<void()> call) {
  struct Guard {
    const bool before = internal::grad_hooks->is_grad_enabled();
    const bool region_before = region_enables_grad;
    ~Guard() {
      internal::grad_hooks->set_grad_enabled(before);
      region_enables_grad = region_before;
    }
  } const guard;
  region_enables_grad = arguments[0].to_bool();
  internal::grad_hooks->set_grad_enabled(region_enables_grad);
  GradModeWatch watch;
  std::optional<ModeGuard> active;
  const bool runs_function = arguments[1].is_None();
  if (runs_function && loses_grad_mode(region_enables_grad)) active.emplace(&watch);
  call();
}

}  // namespace

const higher_order::BaseHop& wrap_hop() {
  static const auto* const hop = new higher_order::BaseHop({.name = "wrap",
                                                            .parameters = {"func", "args"},
                                                            .function = 0,
                                                            .operands = 1,
                                                            .graph_name = "wrap_body"});
  return *hop;
}

const higher_order::BaseHop& wrap_with_set_grad_enabled_hop() {
  static const auto* const hop =
      new higher_order::BaseHop({.name = "wrap_with_set_grad_enabled",
                                 .parameters = {"enable_grad", "wrapped_func", "args"},
                                 .function = 1,
                                 .operands = 2,
                                 .graph_name = "set_grad_body",
                                 .check = check_enable_grad,
                                 .around = with_grad_mode});
  return *hop;
}

namespace {
// So that they are found by their names from the start.
[[maybe_unused]] const auto& wrap_at_start = wrap_hop();
[[maybe_unused]] const auto& set_grad_at_start = wrap_with_set_grad_enabled_hop();
}  // namespace

}  // namespace sb
