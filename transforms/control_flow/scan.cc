#include "switchboard/transforms/control_flow/scan.h"

#include <iterator>
#include <memory>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/functionalized.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kScanName = "higher_order::scan";

void run_scan(DispatchKeySet, Stack* stack) {
  const ScanCall call(*stack);
  std::vector<Tensor> carry = call.init;
  std::vector<std::vector<Tensor>> columns;  // for each stacked result, its slices
  std::vector<Tensor> first;
  const int64_t size = call.xs[0].size(0);
  for (int64_t i = 0; i < size; ++i) {
    std::vector<Tensor> results = call.combine_fn(call.inputs_at(carry, i));
    const std::vector<Tensor> slices = call.take_slices(&results);
    carry = std::move(results);
    if (i == 0) {
      first = slices;
      columns.resize(slices.size());
    } else {
      check_same_metadata(call.combine_fn.name(), slices, "the first slice", first, Agree::Sizes);
    }
    for (size_t r = 0; r < slices.size(); ++r) columns[r].push_back(slices[r]);
  }
  make_apart(&carry, call.operands());
  for (const std::vector<Tensor>& slices : columns) carry.push_back(sb::stack(slices, 0));
  *stack = values_of(carry);
}

class ScanTarget final : public HigherOrderTarget {
 public:
  std::string name() const override { return "scan"; }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    return values_of(call_scan(graph_callable(graphs.at(0)),
                               tensors_of(kScanName, "init", arguments.at(0)),
                               tensors_of(kScanName, "xs", arguments.at(1)),
                               tensors_of(kScanName, "additional_inputs", arguments.at(2)),
                               /*reverse=*/false));
  }
};

void trace_scan(TracingMode& mode, const FixedBy& fixed, Stack* stack) {
  if (mode.paused()) return scan_op().call_boxed(stack);
  const ScanCall call(*stack);
  TracedFunctions traced = trace_functions(mode, {{call.combine_fn, "scan_combine_graph",
                                                   call.inputs_at(call.init, 0), /*again=*/true}});
  if (auto dense = fix_strides(mode, call.combine_fn, call.init, traced, 0,
                               call.inputs_at(call.init, 0), fixed)) {
    (*stack)[0] = std::move(dense->function);
    (*stack)[1] = std::move(dense->carried);
    return trace_scan(mode, dense->by, stack);
  }
  call.take_slices(&traced.results[0]);
  std::vector<GraphArg> arguments{traced.graphs[0], mode.argument_of(call.init),
                                  mode.argument_of(call.xs),
                                  argument_with_captured(mode, call.additional, traced)};
  const bool is_single = known(call.xs.at(0).sym_size(0) == 1);
  run_and_record(mode, scan_op(), stack, std::make_shared<ScanTarget>(), std::move(arguments),
                 fixed.function, /*is_open=*/!fixed.lies_alike && !is_single);
  lay_out_as_given(mode, fixed, /*has_trips=*/true, stack);
}

HigherOrderOperator* make_scan() {
  auto* const op =
      new HigherOrderOperator("scan", {"combine_fn", "init", "xs", "additional_inputs"});
  pass_lazy_bits(op);
  op->impl(DispatchKey::CompositeExplicitAutograd, run_scan).release();
  op->impl(DispatchKey::Autograd, autograd_rule(*op)).release();
  op->impl_mode<TracingMode>([](TracingMode& mode, DispatchKeySet, Stack* stack) {
      trace_scan(mode, {}, stack);
    }).release();
  op->impl_functionalize(
        functionalized(
            *op, {"combine_fn"}, FunctionCalls::AgainAndAgain,
            [](const std::vector<IValue>& arguments) {
              return tensors_of(kScanName, "init", arguments_of(kScanName, arguments, 4)[1]).size();
            }),
        functionalize_routes())
      .release();
  return op;
}

}  // namespace

ScanCall::ScanCall(const std::vector<IValue>& stack)
    : combine_fn(kScanName, "combine_fn", arguments_of(kScanName, stack, 4)[0]),
      init(tensors_of(kScanName, "init", stack[1])),
      xs(tensors_of(kScanName, "xs", stack[2])),
      additional(tensors_of(kScanName, "additional_inputs", stack[3])) {
  check_slices(kScanName, xs);
}

std::vector<Tensor> ScanCall::operands() const {
  std::vector<Tensor> all = init;
  all.insert(all.end(), xs.begin(), xs.end());
  all.insert(all.end(), additional.begin(), additional.end());
  return all;
}

std::vector<Tensor> ScanCall::inputs_at(const std::vector<Tensor>& carry, int64_t i) const {
  std::vector<Tensor> inputs = carry;
  for (const Tensor& x : xs) inputs.push_back(select(x, 0, i));
  inputs.insert(inputs.end(), additional.begin(), additional.end());
  return inputs;
}

std::vector<Tensor> ScanCall::take_slices(std::vector<Tensor>* results) const {
  SB_CHECK(results->size() >= init.size(), combine_fn.name(), ": expected ", init.size(),
           " carried tensors at least, got ", results->size(), " results");
  const auto middle = results->begin() + static_cast<std::ptrdiff_t>(init.size());
  std::vector<Tensor> slices(std::make_move_iterator(middle),
                             std::make_move_iterator(results->end()));
  results->erase(middle, results->end());
  check_same_metadata(combine_fn.name(), *results, "init", init, Agree::Sizes);
  return slices;
}

namespace {

// What a scan of no slices gives: only a run of the function tells the shapes.
std::vector<Tensor> scan_of_nothing(const IValue& combine_fn, const std::vector<Tensor>& init,
                                    const std::vector<Tensor>& xs,
                                    const std::vector<Tensor>& additional) {
  const FunctionArgument function(kScanName, "combine_fn", combine_fn);
  std::vector<Tensor> one = xs;
  for (Tensor& x : one) {
    std::vector<SymInt> sizes(x.sym_sizes().begin(), x.sym_sizes().end());
    sizes[0] = 1;
    x = new_zeros(x, sizes);
  }
  const ScanCall call({combine_fn, init, one, additional});
  // Its own copies of what it is given, and without effects.
  TracingMode mode({.refuse_data_dependent = false});
  std::vector<Tensor> shapes;
  try {
    shapes = trace_functions(mode, {{function, "scan_combine_graph", call.inputs_at(init, 0)}})
                 .results[0];
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(function.name())) throw;
    rethrow_with_context(error, str_cat(function.name(), ": traced, as xs has no slices: "));
  }
  const std::vector<Tensor> slices = call.take_slices(&shapes);
  std::vector<Tensor> results = init;
  make_apart(&results, init);
  for (const Tensor& slice : slices) {
    std::vector<SymInt> sizes{0};
    sizes.insert(sizes.end(), slice.sym_sizes().begin(), slice.sym_sizes().end());
    results.push_back(new_zeros(slice, sizes));
  }
  return results;
}

}  // namespace

namespace {

// Moves a dimension of each tensor from place `begin` on. Errors name the argument.
void move_dims(std::string_view op, std::string_view name, std::vector<Tensor>* tensors,
               size_t begin, int64_t from, int64_t to) {
  if (from == to) return;
  for (size_t i = begin; i < tensors->size(); ++i) {
    Tensor& t = (*tensors)[i];
    const int64_t dim = from == 0 ? to : from;
    SB_CHECK_INDEX(-t.dim() <= dim && dim < t.dim(), op, ": dim: expected a dimension of ", name,
                   " item ", i, ", ", t.describe(), ", got ", dim);
    t = movedim_int(t, from, to);
  }
}

}  // namespace

std::vector<Tensor> call_scan(IValue combine_fn, std::vector<Tensor> init, std::vector<Tensor> xs,
                              std::vector<Tensor> additional, bool reverse, int64_t dim) {
  const size_t num_carried = init.size();
  move_dims(kScanName, "xs", &xs, 0, dim, 0);
  check_slices(kScanName, xs, Slices::AnyNumber);
  // As torch's: the operator itself knows one direction, along the first dimension.
  if (reverse)
    for (Tensor& x : xs) x = flip(x, {0});
  std::vector<Tensor> results;
  if (xs[0].sym_size(0).maybe_int() == 0) {
    results = scan_of_nothing(combine_fn, init, xs, additional);
  } else {
    results = tensors_of(
        kScanName, "results",
        scan_op()({std::move(combine_fn), std::move(init), std::move(xs), std::move(additional)}));
  }
  if (reverse)
    for (size_t i = num_carried; i < results.size(); ++i) results[i] = flip(results[i], {0});
  move_dims(kScanName, "results", &results, num_carried, 0, dim);
  return results;
}

std::vector<Tensor> call_scan_length(const IValue& combine_fn, std::vector<Tensor> init,
                                     int64_t length, std::vector<Tensor> additional) {
  SB_CHECK_VALUE(length >= 0, kScanName, ": length: expected a number that is not negative, got ",
                 length);
  SB_CHECK(!init.empty(), kScanName, ": init: expected at least one tensor, got none");
  // Slices without elements, which the function does not see.
  const Tensor nothing = [&] {
    try {
      return new_zeros(init[0], {length, 0});
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(kScanName, ": length: "));
    }
  }();
  const IValue without_slice =
      Callable::make([function = FunctionArgument(kScanName, "combine_fn", combine_fn),
                      at = init.size()](std::vector<IValue> values) {
        std::vector<Tensor> inputs;
        for (size_t i = 0; i < values.size(); ++i)
          if (i != at) inputs.push_back(values[i].to_tensor());
        return values_of(function(inputs));
      });
  return call_scan(without_slice, std::move(init), {nothing}, std::move(additional),
                   /*reverse=*/false);
}

}  // namespace control_flow

HigherOrderOperator& scan_op() {
  // Never destroyed: calls may come while the program ends.
  static HigherOrderOperator* const op = control_flow::make_scan();
  return *op;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& scan_at_start = scan_op();
}  // namespace

}  // namespace sb
