#include "switchboard/transforms/higher_order/composed_hop.h"

#include <memory>
#include <string_view>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/higher_order/all_hops.h"

namespace sb::higher_order {
namespace {

class ComposedHopTarget final : public HigherOrderTarget {
 public:
  explicit ComposedHopTarget(const ComposedHop& hop) : hop_(hop) {}
  std::string name() const override { return hop_.op().opname(); }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>&) const override {
    return hop_.op()(std::move(arguments));
  }
  bool is_impure() const override { return hop_.options().is_effect || hop_.options().has_effect; }

 private:
  const ComposedHop& hop_;
};

void trace_hop(const ComposedHop& hop, TracingMode& mode, Stack* stack) {
  if (mode.paused()) return hop.op().call_boxed(stack);
  std::vector<GraphArg> arguments;
  for (const IValue& value : *stack) arguments.push_back(mode.argument_of(value));
  control_flow::run_and_record(mode, hop.op(), stack, std::make_shared<ComposedHopTarget>(hop),
                               std::move(arguments));
}

}  // namespace

ComposedHop::ComposedHop(ComposedHopOptions options)
    : options_(std::move(options)),
      op_(new HigherOrderOperator(options_.name, options_.parameters)) {
  control_flow::pass_lazy_bits(op_);
  op_->impl(DispatchKey::CompositeExplicitAutograd,
            [this](DispatchKeySet, Stack* stack) {
              const std::vector<IValue>& arguments =
                  control_flow::arguments_of(op_->name(), *stack, options_.parameters.size());
              try {
                *stack = options_.compose(arguments);
              } catch (const Error& error) {
                if (std::string_view(error.what()).starts_with(op_->name())) throw;
                rethrow_with_context(error, str_cat(op_->name(), ": "));
              }
            })
      .release();
  op_->impl(DispatchKey::Autograd, control_flow::autograd_rule(*op_)).release();
  op_->impl_mode<TracingMode>(
         [this](TracingMode& mode, DispatchKeySet, Stack* stack) { trace_hop(*this, mode, stack); })
      .release();
  op_->impl_functionalize(
         [this](const FunctionalizeApi& api, DispatchKeySet, Stack* stack) {
           for (IValue& value : *stack) value = api.unwrap(value);
           api.redispatch([&] { op_->call_boxed(stack); });
           for (IValue& value : *stack) value = api.wrap(value);
         },
         functionalize_routes())
      .release();
  op_->impl_mode<WithoutEffects>([this](WithoutEffects& mode, DispatchKeySet, Stack* stack) {
       if (options_.is_effect) return stack->clear();
       const Stack arguments =
           control_flow::arguments_of(op_->name(), *stack, options_.parameters.size());
       const ModeGuard active(&mode);
       *stack = options_.compose(arguments);
     })
      .release();
  AllHops<ComposedHop>::get().add(*this);
}

void for_each_composed_hop(std::function<void(const ComposedHop&)> give_rule) {
  AllHops<ComposedHop>::get().add(std::move(give_rule));
}

}  // namespace sb::higher_order
