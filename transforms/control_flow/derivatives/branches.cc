// cond and switch: the gradient is the gradient of the branch that was taken.

#include "switchboard/transforms/control_flow/derivatives/branches.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "switchboard/autograd/engine.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/derivatives/derived_function.h"
#include "switchboard/transforms/control_flow/switch.h"

namespace sb::control_flow {

Tensors derive_branches(const DerivedCallSite& call, const std::vector<FunctionArgument>& branches,
                        const Tensors& operands, Tensors others, Tensors results, CallAgain again) {
  Tensors captured;
  std::vector<std::shared_ptr<DerivedFunction>> functions;
  for (const FunctionArgument& branch : branches) {
    functions.push_back(std::make_shared<DerivedFunction>(branch, call.layer, operands,
                                                          which_require_grad(operands), &captured));
  }
  std::vector<bool> derived(results.size());
  for (const auto& function : functions) {
    function->take_captured(captured);
    for (size_t i = 0; i < results.size(); ++i) derived[i] = derived[i] || function->derives(i);
  }
  Tensors inputs = operands;
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  const std::vector<size_t> wanted = places(which_require_grad(inputs));
  Recorded recorded;
  recorded.inputs = std::move(inputs);
  recorded.others = std::move(others);
  recorded.num_returned = results.size();
  recorded.results = std::move(results);
  recorded.derived = std::move(derived);
  recorded.backward = [functions, wanted, again = std::move(again)](
                          const Tensors& inputs, const Tensors& others, const Tensors&,
                          const TensorVector& grads) {
    const std::vector<size_t> given = defined_in(grads, 0, grads.size());
    std::vector<DerivedFunction::Gradient> gradients;
    std::vector<bool> kept(wanted.size());
    for (const auto& function : functions) {
      gradients.push_back(function->differentiate(given, wanted));
      for (size_t i = 0; i < wanted.size(); ++i)
        kept[i] = kept[i] || gradients.back().of_inputs[i].defined();
    }
    std::vector<size_t> come;
    for (const size_t i : places(kept)) come.push_back(wanted[i]);
    if (come.empty()) return Tensors(inputs.size());
    // Each branch says whether those come of it that do not come of all.
    std::vector<size_t> unsure;
    for (const size_t i : places(kept)) {
      const auto is_sure = [i](const DerivedFunction::Gradient& g) { return g.is_sure(i); };
      if (!std::ranges::all_of(gradients, is_sure)) unsure.push_back(i);
    }
    std::vector<IValue> of_functions;
    for (size_t f = 0; f < functions.size(); ++f)
      of_functions.push_back(functions[f]->function_of(std::move(gradients[f]), kept, unsure));
    Tensors operands = inputs;
    for (const size_t i : given) operands.push_back(contiguous(grads[i]));
    const Tensors found = again(others, std::move(of_functions), std::move(operands));
    Tensors all = spread(found, come, inputs.size());
    for (size_t k = 0; k < unsure.size(); ++k)
      internal::note_may_be_absent(all[wanted[unsure[k]]], found[come.size() + k]);
    return all;
  };
  return record(call, std::move(recorded));
}

namespace {

void derive_cond(const DerivedCallSite& site, Stack* stack) {
  const CondCall call(*stack);
  Tensors results = site.run(site.op, *stack);
  Tensors others;
  if (call.pred.is_Tensor()) others.push_back(call.pred.to_tensor());
  *stack = values_of(derive_branches(
      site, {call.true_fn, call.false_fn}, call.operands, others, std::move(results),
      [pred = call.pred](const Tensors& saved, std::vector<IValue> functions, Tensors operands) {
        return call_cond(saved.empty() ? pred : IValue(saved[0]), std::move(functions[0]),
                         std::move(functions[1]), std::move(operands));
      }));
}

void derive_switch(const DerivedCallSite& site, Stack* stack) {
  const SwitchCall call(*stack);
  Tensors results = site.run(site.op, *stack);
  Tensors others;
  if (call.index.is_Tensor()) others.push_back(call.index.to_tensor());
  *stack = values_of(derive_branches(
      site, call.branches, call.operands, others, std::move(results),
      [index = call.index](const Tensors& saved, std::vector<IValue> functions, Tensors operands) {
        return call_switch(saved.empty() ? index : IValue(saved[0]), std::move(functions),
                           std::move(operands));
      }));
}

[[maybe_unused]] const bool registered =
    register_derivative(cond_op(), derive_cond) && register_derivative(switch_op(), derive_switch);

}  // namespace
}  // namespace sb::control_flow
