#include "switchboard/transforms/higher_order/base_hop.h"

#include <memory>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/transforms/control_flow/functionalized.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/higher_order/all_hops.h"

namespace sb::higher_order {
namespace {

using control_flow::FunctionArgument;

void run_around(const BaseHop& hop, const std::vector<IValue>& arguments,
                absl::FunctionRef<void()> call) {
  if (!hop.options().around) return call();
  hop.options().around(arguments, call);
}

FunctionArgument function_of(const BaseHop& hop, const std::vector<IValue>& stack) {
  const BaseHopOptions& options = hop.options();
  const std::string& name = options.parameters[options.function];
  FunctionArgument given(hop.op().name(), name,
                         control_flow::arguments_of(hop.op().name(), stack,
                                                    options.parameters.size())[options.function]);
  if (!options.around) return given;
  std::vector<IValue> settings = stack;
  settings[options.function] = settings[options.operands] = IValue();
  const auto f = [&hop, settings = std::move(settings),
                  given = std::move(given)](std::vector<IValue> values) {
    const std::vector<Tensor> tensors =
        control_flow::tensors_of(hop.op().name(), "operands", std::move(values));
    std::vector<Tensor> results;
    run_around(hop, settings, [&] { results = given(tensors); });
    return control_flow::values_of(results);
  };
  return FunctionArgument(hop.op().name(), name, Callable::make(f));
}

// Whether the call is what its function does: no mode replaces or records it.
bool is_plain(DispatchKeySet keys, const Stack& stack) {
  if (keys.has(DispatchKey::Functionalize)) return false;
  if (!keys.has(DispatchKey::Python)) return true;
  bool owned = false;
  for (const IValue& value : stack)
    value.for_each_tensor([&](const Tensor& t) { owned = owned || t.impl()->mode_data(); });
  return !owned && all_modes_only_watch();
}

class BaseHopTarget final : public HigherOrderTarget {
 public:
  explicit BaseHopTarget(const BaseHop& hop) : hop_(hop) {}
  std::string name() const override { return hop_.op().opname(); }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(hop_.options().function),
                     control_flow::graph_callable(graphs.at(0)));
    return hop_.op()(std::move(arguments));
  }

 private:
  const BaseHop& hop_;
};

// Whether one graph may stand for the other: they have the same text, the tensors that they hold
// are the same, and what they take has the same strides.
bool is_the_same(const Graph& a, const Graph& b) {
  if (&a == &b) return true;
  if (a.size() != b.size() || a.to_string() != b.to_string()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind() == Node::Kind::Constant && !a[i].constant().is_same(b[i].constant()))
      return false;
    const std::optional<NodeMeta>&x = a[i].meta(), &y = b[i].meta();
    if (!x || !y) continue;
    for (size_t d = 0; d < x->strides.size(); ++d)
      if (x->strides[d].to_string() != y->strides[d].to_string()) return false;
    for (size_t n = 0; n < a[i].arguments().size(); ++n) {
      const Subgraph *const of_a = a[i].arguments()[n].subgraph(), *const of_b = b[i].arguments()[n]
                                                                                     .subgraph();
      if (of_a && of_b && !is_the_same(*of_a->graph, *of_b->graph)) return false;
    }
  }
  return true;
}

// The subgraph of an earlier call in this graph with the same settings that computes the same; or
// the one given.
Subgraph shared_subgraph(const BaseHop& hop, const Graph& graph, Subgraph given,
                         const std::vector<IValue>& arguments) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[i];
    if (node.kind() != Node::Kind::HigherOrder || node.higher_order().name() != hop.op().opname())
      continue;
    bool same = true;
    for (size_t n = 0; n < arguments.size(); ++n) {
      if (n == hop.options().function || n == hop.options().operands) continue;
      const IValue* const setting = node.arguments()[n].constant();
      same = same && setting && is_same_constant(*setting, arguments[n]);
    }
    const Subgraph* const earlier = node.arguments()[hop.options().function].subgraph();
    if (same && is_the_same(*earlier->graph, *given.graph))
      return {earlier->name, earlier->graph, true};
  }
  return given;
}

void trace_hop(const BaseHop& hop, TracingMode& mode, Stack* stack) {
  if (mode.paused()) return hop.op().call_boxed(stack);
  const BaseHopOptions& options = hop.options();
  const BaseHopCall call(hop, *stack);
  const control_flow::TracedFunctions traced =
      control_flow::trace_functions(mode, {{call.function, options.graph_name, call.operands}});
  std::vector<GraphArg> arguments;
  for (size_t i = 0; i < stack->size(); ++i) {
    if (i == options.function)
      arguments.push_back(
          options.shares_graphs
              ? shared_subgraph(hop, mode.graph(), *traced.graphs[0].subgraph(), *stack)
              : traced.graphs[0]);
    else if (i == options.operands)
      arguments.push_back(control_flow::argument_with_captured(mode, call.operands, traced));
    else
      arguments.push_back(mode.argument_of((*stack)[i]));
  }
  control_flow::run_and_record(mode, hop.op(), stack, std::make_shared<BaseHopTarget>(hop),
                               std::move(arguments));
}

BaseHopOptions checked(BaseHopOptions options) {
  const size_t n = options.parameters.size();
  for (const auto& [what, place] :
       {std::pair{"function", options.function}, std::pair{"operands", options.operands}}) {
    SB_CHECK_VALUE(place < n, "BaseHop: ", options.name, ": ", what,
                   ": expected the place of one of ", n, " parameters, got ", place);
  }
  SB_CHECK_VALUE(options.function != options.operands, "BaseHop: ", options.name,
                 ": function and operands: expected two places, got ", options.function, " twice");
  SB_CHECK_VALUE(!options.graph_name.empty(), "BaseHop: ", options.name,
                 ": graph_name: expected a name, got an empty one");
  return options;
}

}  // namespace

BaseHop::BaseHop(BaseHopOptions options)
    : options_(checked(std::move(options))),
      op_(new HigherOrderOperator(options_.name, options_.parameters)) {
  control_flow::pass_lazy_bits(op_);
  op_->impl(DispatchKey::CompositeExplicitAutograd,
            [this](DispatchKeySet, Stack* stack) {
              const BaseHopCall call(*this, *stack);
              *stack = control_flow::values_of(call.function(call.operands));
            })
      .release();
  op_->impl(DispatchKey::Autograd,
            [this, rule = control_flow::autograd_rule(*op_)](DispatchKeySet keys, Stack* stack) {
              const BaseHopCall checked(*this, *stack);
              const std::vector<IValue> arguments =
                  options_.around ? *stack : std::vector<IValue>();
              run_around(*this, arguments, [&] {
                if (!options_.run_recorded || !internal::grad_hooks->is_grad_enabled() ||
                    !is_plain(keys, *stack))
                  return rule(keys, stack);
                options_.run_recorded(*this,
                                      (keys - kAutogradFunctionalities) &
                                          DispatchKeySet::below(DispatchKey::ADInplaceOrView),
                                      stack);
              });
            })
      .release();
  op_->impl_mode<TracingMode>(
         [this](TracingMode& mode, DispatchKeySet, Stack* stack) { trace_hop(*this, mode, stack); })
      .release();
  op_->impl_functionalize(
         control_flow::functionalized(*op_, {options_.parameters[options_.function]},
                                      control_flow::FunctionCalls::OneOfThem),
         functionalize_routes())
      .release();
  AllHops<BaseHop>::get().add(*this);
}

std::vector<IValue> BaseHop::arguments(IValue function, std::vector<Tensor> operands,
                                       std::vector<IValue> settings) const {
  SB_CHECK_TYPE(settings.size() + 2 == options_.parameters.size(), op_->name(),
                ": settings: expected ", options_.parameters.size() - 2, ", got ", settings.size());
  std::vector<IValue> all;
  size_t next = 0;
  for (size_t i = 0; i < options_.parameters.size(); ++i) {
    if (i == options_.function)
      all.push_back(std::move(function));
    else if (i == options_.operands)
      all.emplace_back(std::move(operands));
    else
      all.push_back(std::move(settings.at(next++)));
  }
  return all;
}

std::vector<Tensor> BaseHop::operator()(IValue function, std::vector<Tensor> operands,
                                        std::vector<IValue> settings) const {
  return control_flow::tensors_of(
      op_->name(), "results",
      (*op_)(arguments(std::move(function), std::move(operands), std::move(settings))));
}

BaseHopCall::BaseHopCall(const BaseHop& hop, const std::vector<IValue>& stack)
    : function(function_of(hop, stack)),
      operands(control_flow::tensors_of(hop.op().name(),
                                        hop.options().parameters[hop.options().operands],
                                        stack[hop.options().operands])) {
  if (hop.options().check) hop.options().check(stack);
}

void for_each_base_hop(std::function<void(const BaseHop&)> give_rule) {
  AllHops<BaseHop>::get().add(std::move(give_rule));
}

}  // namespace sb::higher_order
