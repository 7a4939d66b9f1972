#include "switchboard/transforms/higher_order/wrap.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/grad_hooks.h"

namespace sb {
namespace {

void check_enable_grad(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[0].is_Bool(),
                "higher_order::wrap_with_set_grad_enabled: enable_grad: expected a bool, got ",
                arguments[0].tag_name());
}

void with_grad_mode(const std::vector<IValue>& arguments, absl::FunctionRef<void()> call) {
  struct Guard {
    const bool before = internal::grad_hooks->is_grad_enabled();
    ~Guard() { internal::grad_hooks->set_grad_enabled(before); }
  } const guard;
  internal::grad_hooks->set_grad_enabled(arguments[0].to_bool());
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
