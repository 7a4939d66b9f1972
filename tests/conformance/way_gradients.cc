// Ways that compare derivatives.

#include <utility>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/conformance/leaves.h"
#include "switchboard/tests/conformance/ways.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::conformance {
namespace {

// A run of a program on leaves.
struct Run {
  Leaves made;
  std::vector<Tensor> outputs;
};

Run run_forward(Composition& c, const TensorFunction& f) {
  c.begin("the leaves");
  Run run{make_leaves(c.json().at("inputs"), c.expected("grads").at("leaves").get<std::string>(),
                      c.place(), c.dispatcher()),
          {}};
  c.begin("");
  run.outputs = f(run.made.inputs);
  return run;
}

// The outputs are what they are without gradients.
Difference compare_outputs(const Composition& c, const std::vector<Tensor>& outputs) {
  const Json& returns = c.expected("eager").at("returns");
  if (returns.size() != outputs.size())
    return str_cat("expected ", returns.size(), " outputs, got ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto d = compare_tensor(returns[i], outputs[i], c.place(), c.tolerance()))
      return str_cat("outputs.", i, ": ", *d);
  return std::nullopt;
}

// `expected` has `grad_outputs` and `grads`.
Difference backward_from(Composition& c, const Run& run, const Json& expected) {
  Roots roots;
  if (auto d = find_roots(run.outputs, expected.at("grad_outputs"), c.place(), &roots)) return d;
  c.begin("backward");
  backward(roots.tensors, roots.grads);
  if (!expected.contains("grads")) return std::nullopt;
  const std::vector<Arguments::Named>& leaves = run.made.leaves;
  // Differences do not tell a gradient of zeros from none.
  const bool none_is_zeros = expected.contains("by");
  const auto gradient = [&](size_t i) {
    const Tensor grad = grad_of(leaves[i].tensor);
    return grad.defined() || !none_is_zeros ? grad : zeros_like(leaves[i].tensor);
  };
  return compare_gradients(expected["grads"], leaves, gradient, Unnamed::NoneOrZeros, c.place(),
                           c.tolerance());
}

Difference run_as_expected(Composition& c, const TensorFunction& f, const Json& expected) {
  const Run run = run_forward(c, f);
  if (auto d = compare_outputs(c, run.outputs)) return d;
  return backward_from(c, run, expected);
}

}  // namespace

Difference run_gradients(Composition& c) {
  const Json& expected = c.expected();
  if (!expected.contains("raises")) return run_as_expected(c, c.program(), expected);
  const std::string kind = expected["raises"].get<std::string>(),
                    at = expected.at("at").get<std::string>();
  // Where it does not raise, it must do what is true.
  const Json& truth = expected.contains("truth") ? expected["truth"] : expected;
  bool forward = true;
  try {
    const Run run = run_forward(c, c.program());
    forward = false;
    if (!truth.contains("grad_outputs")) return str_cat("expected ", kind, " in forward, got none");
    if (auto d = compare_outputs(c, run.outputs)) return d;
    if (auto d = backward_from(c, run, truth)) return d;
  } catch (const Error& error) {
    const bool there = at == (forward ? "forward" : "backward");
    if (error.kind() == kind && (there || expected.contains("truth"))) return std::nullopt;
    return str_cat("expected ", kind, " in ", at, ", got ", error.kind(), " in ",
                   forward ? "forward" : "backward", ": ", error.what());
  }
  if (expected.contains("truth")) return std::nullopt;
  return str_cat("expected ", kind, " in ", at, ", got none");
}

Difference run_functionalized_gradients(Composition& c) {
  return run_as_expected(c, functionalize(c.program()), c.expected());
}

Difference run_hvp(Composition& c) {
  const Json& expected = c.expected();
  const Run run = run_forward(c, c.program());
  Roots roots;
  if (auto d = find_roots(run.outputs, c.expected("grads").at("grad_outputs"), c.place(), &roots))
    return d;
  std::vector<Tensor> leaves;
  for (const Arguments::Named& leaf : run.made.leaves) leaves.push_back(leaf.tensor);
  c.begin("backward");
  const std::vector<Tensor> gradients =
      grad(roots.tensors, leaves, roots.grads, {.create_graph = true, .allow_unused = true});
  if (auto d = compare_gradients(
          c.expected("grads").at("grads"), run.made.leaves, [&](size_t i) { return gradients[i]; },
          Unnamed::NoneOrZeros, c.place(), c.tolerance()))
    return d;
  Roots second;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const std::string& path = run.made.leaves[i].path;
    if (!requires_grad(gradients[i]) || !expected.at("v").contains(path)) continue;
    second.tensors.push_back(gradients[i]);
    second.grads.push_back(build_tensor(expected["v"][path], c.place()));
  }
  c.begin("the second backward");
  std::vector<Tensor> products(leaves.size());
  if (!second.tensors.empty())
    products = grad(second.tensors, leaves, second.grads, {.allow_unused = true});
  return compare_gradients(
      expected.at("hv"), run.made.leaves, [&](size_t i) { return products[i]; },
      Unnamed::NoneOrZeros, c.place(), c.tolerance());
}

Difference run_jvp(Composition&) { throw Unsupported("no jvp"); }

}  // namespace sb::conformance
