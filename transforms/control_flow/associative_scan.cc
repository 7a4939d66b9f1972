#include "switchboard/transforms/control_flow/associative_scan.h"

#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/scan.h"

namespace sb {
namespace control_flow {
namespace {

constexpr std::string_view kAssociativeScanName = "higher_order::associative_scan";

void run_associative_scan(DispatchKeySet, Stack* stack) {
  const std::vector<IValue> arguments = arguments_of(kAssociativeScanName, *stack, 3);
  const FunctionArgument combine_fn(kAssociativeScanName, "combine_fn", arguments[0]);
  const std::vector<Tensor> xs = tensors_of(kAssociativeScanName, "xs", arguments[1]);
  std::vector<Tensor> additional =
      tensors_of(kAssociativeScanName, "additional_inputs", arguments[2]);
  check_slices(kAssociativeScanName, xs, Slices::AnyNumber);
  std::vector<Tensor> results;
  if (xs[0].sym_size(0).maybe_int().value_or(2) < 2) {
    for (const Tensor& x : xs) results.push_back(clone(x, MemoryFormat::Contiguous));
    *stack = values_of(results);
    return;
  }
  std::vector<Tensor> first, rest;
  for (const Tensor& x : xs) {
    first.push_back(select(x, 0, 0));
    rest.push_back(slice(x, 0, 1));
  }
  const auto step = [combine_fn, n = xs.size()](std::vector<IValue> values) {
    std::vector<Tensor> inputs;
    for (IValue& value : values) inputs.push_back(std::move(value).to_tensor());
    const std::vector<Tensor> next = combine_fn(inputs);
    check_same_metadata(combine_fn.name(), next, "the slices",
                        {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(n)},
                        Agree::Sizes);
    // Each is carried on and stacked.
    std::vector<IValue> both = values_of(next);
    both.insert(both.end(), next.begin(), next.end());
    return both;
  };
  const std::vector<Tensor> scanned =
      call_scan(Callable::make(step), first, rest, std::move(additional), /*reverse=*/false);
  for (size_t i = 0; i < xs.size(); ++i)
    results.push_back(cat({unsqueeze(first[i], 0), scanned[xs.size() + i]}, 0));
  *stack = values_of(results);
}

HigherOrderOperator* make_associative_scan() {
  auto* const op =
      new HigherOrderOperator("associative_scan", {"combine_fn", "xs", "additional_inputs"});
  pass_lazy_bits(op);
  op->impl(DispatchKey::CompositeImplicitAutograd, run_associative_scan).release();
  return op;
}

}  // namespace

std::vector<Tensor> call_associative_scan(IValue combine_fn, std::vector<Tensor> xs, bool reverse,
                                          int64_t dim) {
  for (size_t i = 0; i < xs.size() && dim != 0; ++i) {
    SB_CHECK_INDEX(-xs[i].dim() <= dim && dim < xs[i].dim(), kAssociativeScanName,
                   ": dim: expected a dimension of xs item ", i, ", ", xs[i].describe(), ", got ",
                   dim);
    xs[i] = movedim_int(xs[i], dim, 0);
  }
  if (reverse) {
    check_slices(kAssociativeScanName, xs, Slices::AnyNumber);
    for (Tensor& x : xs) x = flip(x, {0});
  }
  std::vector<Tensor> results = tensors_of(
      kAssociativeScanName, "results",
      associative_scan_op()({std::move(combine_fn), std::move(xs), std::vector<Tensor>{}}));
  if (reverse)
    for (Tensor& result : results) result = flip(result, {0});
  if (dim != 0)
    for (Tensor& result : results) result = movedim_int(result, 0, dim);
  return results;
}

}  // namespace control_flow

HigherOrderOperator& associative_scan_op() {
  // Never destroyed: calls may come while the program ends.
  static HigherOrderOperator* const op = control_flow::make_associative_scan();
  return *op;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const HigherOrderOperator& associative_scan_at_start = associative_scan_op();
}  // namespace

}  // namespace sb
