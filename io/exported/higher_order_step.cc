#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/io/exported/node_arguments.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/numbers.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/higher_order/foreach_map.h"
#include "switchboard/transforms/higher_order/hints_wrapper.h"
#include "switchboard/transforms/higher_order/invoke_subgraph.h"
#include "switchboard/transforms/higher_order/run_const_graph.h"
#include "switchboard/transforms/higher_order/strict_mode.h"

namespace sb::io {
namespace {

using control_flow::ValueKind;
using higher_order::BaseHop;

// A graph as a function of tensors, as control flow takes it. Numbers among the operands stay what
// they are in the call: they are bound here.
class GraphFunction {
 public:
  enum class Gives : uint8_t { Tensors, TensorsAndInts };

  // The operator knows tensors: an int that the graph gives is one without dimensions for it.
  GraphFunction(std::shared_ptr<const CompiledGraph> graph, const std::string& op,
                Gives gives = Gives::Tensors)
      : graph_(std::move(graph)) {
    for (const Argument& output : graph_->graph().outputs) {
      const bool is_int =
          std::holds_alternative<int64_t>(output) || std::holds_alternative<SymRef>(output);
      if (std::holds_alternative<TensorRef>(output))
        kinds_.push_back(ValueKind::Tensor);
      else if (std::holds_alternative<None>(output))
        kinds_.push_back(ValueKind::None);
      else if (is_int && gives == Gives::TensorsAndInts)
        kinds_.push_back(ValueKind::Int);
      else
        SB_THROW(NotImplementedError, op, ": a graph that gives a ", kind_of(output),
                 " is not supported: ", graph_->graph().place);
    }
  }

  // `operands` in the order of the graph's inputs, of which the tensors are replaced at each call.
  IValue callable(std::vector<IValue> operands, const RunContext& context) const {
    return Callable::make(
        [graph = graph_, operands = std::move(operands), context](std::vector<IValue> tensors) {
          std::vector<IValue> inputs = operands;
          std::vector<Tensor> beside;
          size_t next = 0;
          for (IValue& input : inputs) {
            if (!input.is_Tensor() || next == tensors.size()) continue;
            input = std::move(tensors[next++]);
            beside.push_back(input.to_tensor());
          }
          return control_flow::values_of(
              control_flow::to_tensors(graph->run(std::move(inputs), context), beside));
        });
  }

  // The outputs of the graph, the tensors among them given.
  Stack results(const std::vector<IValue>& given) const {
    const auto expected =
        kinds_.size() - static_cast<size_t>(std::ranges::count(kinds_, ValueKind::None));
    SB_CHECK_TYPE(given.size() == expected, graph_->graph().place, ": expected ", expected,
                  " tensors, got ", given.size());
    std::vector<Tensor> tensors;
    for (const IValue& value : given) tensors.push_back(value.to_tensor());
    return control_flow::to_values(tensors, kinds_);
  }
  const std::vector<ValueKind>& outputs() const { return kinds_; }

 private:
  std::shared_ptr<const CompiledGraph> graph_;
  std::vector<ValueKind> kinds_;
};

std::vector<IValue> joined(std::vector<IValue> a, const std::vector<IValue>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Results of higher-order operators are a list of tensors, or its elements.
std::vector<IValue> elements_of(std::vector<IValue> results) {
  if (results.size() != 1 || !results[0].is_TensorList()) return results;
  const TensorList tensors = results[0].to_tensor_list();
  return std::vector<IValue>(tensors.begin(), tensors.end());
}

class FunctionStep : public NodeStep {
 public:
  explicit FunctionStep(RunFunction function) : function_(std::move(function)) {}
  Stack run(absl::Span<const IValue> values, const RunContext& context) const override {
    return function_(values, context);
  }

 private:
  RunFunction function_;
};

// cond(pred, true_graph, false_graph, operands)
RunFunction make_cond(const Node& node, const Arguments& arguments) {
  arguments.expect(3, 4);
  constexpr auto kGives = GraphFunction::Gives::TensorsAndInts;
  const GraphFunction yes(arguments.graph(1), node.target(), kGives);
  const GraphFunction no(arguments.graph(2), node.target(), kGives);
  SB_CHECK_TYPE(yes.outputs() == no.outputs(), node.target(),
                ": the graphs give other values, or tensors at other places: ",
                yes.outputs().size(), " and ", no.outputs().size(), " values");
  return [pred = arguments.operand(0), yes, no,
          operands = node.inputs.size() > 3 ? arguments.list(3) : Operands()](
             absl::Span<const IValue> values, const RunContext& context) {
    const std::vector<IValue> inputs = values_of(operands, values);
    IValue chosen = pred.in(values);
    // A tensor without data, so that both functions run, whatever the sizes at hand would choose.
    if (chosen.is_SymBool()) chosen = wrapped_scalar_tensor(chosen.to_scalar());
    return yes.results(
        elements_of(cond_op()({std::move(chosen), yes.callable(inputs, context),
                               no.callable(inputs, context), tensors_among(inputs)})));
  };
}

// while_loop(cond_graph, body_graph, carried, additional), and while_loop_stack_output
RunFunction make_loop(const HigherOrderOperator& op, const Node& node, const Arguments& arguments) {
  arguments.expect(3, 4);
  const GraphFunction condition(arguments.graph(0), node.target());
  const GraphFunction body(arguments.graph(1), node.target());
  return [&op, target = node.target(), condition, body, carried = arguments.list(2),
          additional = node.inputs.size() > 3 ? arguments.list(3) : Operands()](
             absl::Span<const IValue> values, const RunContext& context) {
    const std::vector<IValue> state = values_of(carried, values);
    for (const IValue& value : state)
      SB_CHECK_NOT_IMPLEMENTED(value.is_Tensor(), target,
                               ": carried numbers are not supported, got ", value.to_string());
    const std::vector<IValue> more = values_of(additional, values);
    const std::vector<IValue> inputs = joined(state, more);
    return body.results(
        elements_of(op({condition.callable(inputs, context), body.callable(inputs, context),
                        tensors_among(state), tensors_among(more)})));
  };
}
RunFunction make_while_loop(const Node& node, const Arguments& arguments) {
  return make_loop(while_loop_op(), node, arguments);
}
RunFunction make_stack_output(const Node& node, const Arguments& arguments) {
  return make_loop(while_loop_stack_output_op(), node, arguments);
}

// map_impl(graph, xs, args)
RunFunction make_map(const Node& node, const Arguments& arguments) {
  arguments.expect(2, 3);
  const GraphFunction f(arguments.graph(0), node.target());
  return
      [f, xs = arguments.list(1), more = node.inputs.size() > 2 ? arguments.list(2) : Operands()](
          absl::Span<const IValue> values, const RunContext& context) {
        const std::vector<IValue> mapped = values_of(xs, values);
        const std::vector<IValue> args = values_of(more, values);
        return f.results(elements_of(map_impl_op()({f.callable(joined(mapped, args), context),
                                                    tensors_among(mapped), tensors_among(args)})));
      };
}

// scan(graph, init, xs, additional)
RunFunction make_scan(const Node& node, const Arguments& arguments) {
  arguments.expect(3, 4);
  const GraphFunction combine(arguments.graph(0), node.target());
  return [combine, init = arguments.list(1), xs = arguments.list(2),
          more = node.inputs.size() > 3 ? arguments.list(3) : Operands()](
             absl::Span<const IValue> values, const RunContext& context) {
    const std::vector<IValue> carry = values_of(init, values);
    const std::vector<IValue> mapped = values_of(xs, values);
    const std::vector<IValue> additional = values_of(more, values);
    const IValue f = combine.callable(joined(joined(carry, mapped), additional), context);
    const auto tensors = [](const std::vector<IValue>& among) {
      return control_flow::tensors_of("higher_order::scan", "operands", tensors_among(among));
    };
    return combine.results(control_flow::values_of(control_flow::call_scan(
        f, tensors(carry), tensors(mapped), tensors(additional), /*reverse=*/false)));
  };
}

// associative_scan(combine_graph, xs, additional_inputs): a slice of each of the xs, twice.
RunFunction make_associative_scan(const Node& node, const Arguments& arguments) {
  arguments.expect(2, 3);
  const GraphFunction combine(arguments.graph(0), node.target());
  return [combine, xs = arguments.list(1),
          more = node.inputs.size() > 2 ? arguments.list(2) : Operands()](
             absl::Span<const IValue> values, const RunContext& context) {
    const std::vector<IValue> mapped = values_of(xs, values);
    const std::vector<IValue> additional = values_of(more, values);
    const IValue f = combine.callable(joined(joined(mapped, mapped), additional), context);
    return combine.results(
        elements_of(associative_scan_op()({f, tensors_among(mapped), tensors_among(additional)})));
  };
}

// A graph that is called once.
RunFunction make_region(const BaseHop& hop, const Node& node, const Arguments& arguments,
                        Operands operands, std::vector<IValue> settings) {
  const GraphFunction f(arguments.graph(0), node.target());
  return [&hop, f, operands = std::move(operands), settings = std::move(settings)](
             absl::Span<const IValue> values, const RunContext& context) {
    const std::vector<IValue> inputs = values_of(operands, values);
    return f.results(elements_of(hop.op()(hop.arguments(
        f.callable(inputs, context), tensors_among(inputs).to_tensor_list(), settings))));
  };
}

// strict_mode(graph, operands)
RunFunction make_strict_mode(const Node& node, const Arguments& arguments) {
  arguments.expect(2, 2);
  return make_region(strict_mode_hop(), node, arguments, arguments.list(1), {});
}

// run_const_graph(graph, operands)
RunFunction make_run_const_graph(const Node& node, const Arguments& arguments) {
  arguments.expect(2, 2);
  return make_region(run_const_graph_hop(), node, arguments, arguments.list(1), {});
}

// invoke_subgraph(graph, identifier, operands...)
RunFunction make_invoke_subgraph(const Node& node, const Arguments& arguments) {
  arguments.expect(2, kAnyNumber);
  const IValue identifier =
      arguments.is_none(1) ? IValue() : IValue(arguments.get<std::string>(1, "a string"));
  return make_region(invoke_subgraph_hop(), node, arguments, arguments.rest(2), {identifier});
}

// foreach_map(graph, operands...)
RunFunction make_foreach_map(const Node& node, const Arguments& arguments) {
  arguments.expect(1, kAnyNumber);
  return make_region(foreach_map_hop(), node, arguments, arguments.rest(1), {});
}

// A named argument's value, where it is a constant.
IValue constant_of(const Node& node, const NamedArgument& argument) {
  IValue value;
  const auto visitor = [&]<class T>(const T& v) {
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
                  std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
      value = v;
    else
      SB_THROW(NotImplementedError, node.target(), ": ", quote(argument.name), ": a ",
               kind_of(argument.value), " is not supported");
  };
  std::visit(visitor, argument.value);
  return value;
}

// hints_wrapper(graph, operands, {}, hints=...)
RunFunction make_hints_wrapper(const Node& node, const Arguments& arguments) {
  SB_CHECK_TYPE(node.inputs.size() == 4 && node.inputs[3].name == "hints", node.target(),
                ": expected 3 arguments and hints, the node has ", node.inputs.size());
  SB_CHECK_NOT_IMPLEMENTED(arguments.get<ArgumentMap>(2, "a dict")->empty(), node.target(),
                           ": named arguments of its function are not supported");
  Hints hints;
  for (const NamedArgument& hint : *arguments.get<ArgumentMap>(3, "a dict"))
    hints.emplace_back(hint.name, constant_of(node, hint));
  return make_region(hints_wrapper_hop(), node, arguments, arguments.list(1),
                     {std::vector<IValue>(), hints_value(hints)});
}

// wrap_with_set_grad_enabled(enabled, graph, operands...)
RunFunction make_set_grad_enabled(const Node&, const Arguments& arguments) {
  arguments.expect(2, kAnyNumber);
  return
      [enabled = arguments.get<bool>(0, "a bool"), graph = arguments.graph(1),
       operands = arguments.rest(2)](absl::Span<const IValue> values, const RunContext& context) {
        const GradModeGuard guard(enabled);
        return graph->run(values_of(operands, values), context);
      };
}

// wrap_with_autocast(device_type, dtype, enabled, cache_enabled, graph, operands...)
RunFunction make_autocast(const Node& node, const Arguments& arguments) {
  arguments.expect(5, kAnyNumber);
  const std::string& device = arguments.get<std::string>(0, "a device type");
  SB_CHECK_NOT_IMPLEMENTED(device == "cpu", node.target(), ": autocast of ", quote(device),
                           " is not supported; expected cpu");
  std::optional<DType> dtype;
  if (arguments.get<bool>(2, "a bool"))
    dtype = arguments.is_none(1) ? DType::BFloat16 : arguments.get<DType>(1, "a dtype");
  SB_CHECK_NOT_IMPLEMENTED(!dtype || *dtype == DType::BFloat16 || *dtype == DType::Float16,
                           node.target(), ": expected bfloat16 or float16, got ",
                           to_string(dtype.value_or(DType::BFloat16)));
  return [dtype, graph = arguments.graph(4), operands = arguments.rest(5)](
             absl::Span<const IValue> values, const RunContext& context) {
    RunContext inside = context;
    inside.autocast = dtype;
    return graph->run(values_of(operands, values), inside);
  };
}

struct Maker {
  std::string_view op;
  RunFunction (*make)(const Node& node, const Arguments& arguments);
};
constexpr Maker kMakers[] = {
    {"higher_order::associative_scan", make_associative_scan},
    {"higher_order::auto_functionalized", make_auto_functionalized},
    {"higher_order::auto_functionalized_v2", make_auto_functionalized},
    {"higher_order::cond", make_cond},
    {"higher_order::foreach_map", make_foreach_map},
    {"higher_order::hints_wrapper", make_hints_wrapper},
    {"higher_order::invoke_subgraph", make_invoke_subgraph},
    {"higher_order::map_impl", make_map},
    {"higher_order::out_dtype", make_out_dtype},
    {"higher_order::print", make_print},
    {"higher_order::run_const_graph", make_run_const_graph},
    {"higher_order::scan", make_scan},
    {"higher_order::strict_mode", make_strict_mode},
    {"higher_order::while_loop", make_while_loop},
    {"higher_order::while_loop_stack_output", make_stack_output},
    {"higher_order::with_effects", make_with_effects},
    {"higher_order::wrap_with_autocast", make_autocast},
    {"higher_order::wrap_with_set_grad_enabled", make_set_grad_enabled},
};

const Maker* find_maker(const std::string& op) {
  const auto* maker = std::ranges::find(kMakers, op, &Maker::op);
  return maker == std::end(kMakers) ? nullptr : maker;
}

}  // namespace

bool is_known_higher_order(const std::string& op) { return find_maker(op) != nullptr; }

std::unique_ptr<NodeStep> make_higher_order_step(const Node& node, const Dispatcher& dispatcher,
                                                 const Places& places) {
  const Maker* const maker = find_maker(node.op);
  SB_CHECK_NOT_IMPLEMENTED(maker, "higher-order operator ", quote(node.op), " is not supported");
  return std::make_unique<FunctionStep>(maker->make(node, Arguments(node, dispatcher, places)));
}

}  // namespace sb::io
