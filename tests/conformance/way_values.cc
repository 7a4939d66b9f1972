// Ways that compare what a program gives.

#include "absl/functional/function_ref.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/tests/conformance/leaves.h"
#include "switchboard/tests/conformance/ways.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/vmap/vmap.h"

namespace sb::conformance {
namespace {

Difference run_on_fresh_inputs(Composition& c, const TensorFunction& f, Compared compared) {
  const std::vector<Tensor> inputs = c.fresh_inputs();
  const ProgramCheck check(c, inputs, compared);
  return check.outcome(c.expected(), f(inputs));
}

Difference run_as_graph(Composition& c, const TensorFunction& f) {
  const Graph graph = trace(f, c.fresh_inputs());
  c.begin("the graph");
  const auto d = run_on_fresh_inputs(
      c, [&](const std::vector<Tensor>& inputs) { return graph.run(inputs); }, Compared::Elements);
  return d ? Difference(str_cat(*d, "\n", graph.to_string())) : d;
}

}  // namespace

Difference run_eager(Composition& c) {
  const Json& expected = c.expected();
  if (!expected.contains("raises"))
    return run_on_fresh_inputs(c, c.program(), Compared::Everything);
  const std::string kind = expected["raises"].get<std::string>();
  try {
    c.program()(c.fresh_inputs());
  } catch (const Error& error) {
    if (error.kind() == kind) return std::nullopt;
    return str_cat("expected ", kind, ", got ", error.kind(), ": ", error.what());
  }
  return str_cat("expected ", kind, ", got no error");
}

Difference run_functionalized(Composition& c) {
  return run_on_fresh_inputs(c, functionalize(c.program()), Compared::Elements);
}

Difference run_traced(Composition& c) {
  if (auto d = run_as_graph(c, c.program())) return d;
  c.begin("");
  const TensorFunction functionalized = functionalize(c.program());
  try {
    if (auto d = run_as_graph(c, functionalized)) return str_cat("functionalized: ", *d);
  } catch (const Error& error) {
    if (c.may_refuse("functionalized")) return std::nullopt;
    rethrow_with_context(error, "functionalized: ");
  }
  return std::nullopt;
}

Difference run_fake(Composition& c) {
  const std::unique_ptr<Place> place = make_place("fake");
  if (!place) throw Unsupported("no fake mode");
  Composition on_fake(c.json(), c.way(), *place, c.dispatcher());
  try {
    Difference d;
    place->run([&] { d = run_on_fresh_inputs(on_fake, on_fake.program(), Compared::Metadata); });
    return d;
  } catch (const Error&) {
    c.begin(on_fake.doing());
    throw;
  }
}

namespace {

// A run by vmap, by way of `layer`, on inputs of its own.
Difference run_batches(
    Composition& c, const VmapOptions& options,
    absl::FunctionRef<std::vector<Tensor>(const TensorFunction&, const std::vector<Tensor>&)>
        layer) {
  const Json& expected = c.expected();
  const TensorFunction batched = [&](const std::vector<Tensor>& inputs) {
    return vmap(c.program(), inputs, options);
  };
  const std::vector<Tensor> outputs =
      layer(batched, build_tensors(expected.at("inputs"), c.place()));
  const Json& returns = expected.at("returns");
  if (returns.size() != outputs.size())
    return str_cat("expected ", returns.size(), " outputs, got ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto d = compare_tensor(returns[i], outputs[i], c.place(), c.tolerance()))
      return str_cat("outputs.", i, ": ", *d);
  return std::nullopt;
}

}  // namespace

Difference run_vmap(Composition& c) {
  VmapOptions options;
  for (const Json& dim : c.expected().at("in_dims"))
    options.in_dims.push_back(dim.is_null() ? std::nullopt : std::optional(dim.get<int64_t>()));
  using Tensors = std::vector<Tensor>;
  if (auto d =
          run_batches(c, options, [](const TensorFunction& f, const Tensors& in) { return f(in); }))
    return d;
  if (auto d = run_batches(c, options, [](const TensorFunction& f, const Tensors& in) {
        return functionalize(f)(in);
      }))
    return str_cat("functionalized: ", *d);
  const Tensors others = build_tensors(c.expected().at("inputs"), c.place());
  if (auto d = run_batches(c, options, [&](const TensorFunction& f, const Tensors& in) {
        return trace(f, others).run(in);
      }))
    return str_cat("traced: ", *d);
  return std::nullopt;
}

}  // namespace sb::conformance
