// The operator in programs that are transformed: functionalised, and traced.

#include <algorithm>

#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/custom_ops/opcheck/tensor_form.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::internal {
namespace {

using Tensors = std::vector<Tensor>;

// Copies of the arguments with other data, likely to be as good as the data that was given: the
// elements of floating-point and complex tensors in the opposite order. As they are where tensors
// share memory.
Stack with_other_data(const CheckedCall& call) {
  Stack copies = copy_arguments(call.arguments, false);
  const Tensors tensors = tensors_in(copies);
  for (const Tensor& t : tensors) {
    const bool is_shared = std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& other) {
      return &other != &t && other.is_alias_of(t);
    });
    if (is_shared || !(is_floating_point(t.dtype()) || is_complex(t.dtype())) ||
        has_internal_overlap(t))
      continue;
    Numbers numbers = numbers_of(t);
    std::reverse(numbers.begin(), numbers.end());
    copy_(t, plain_tensor_like(t, numbers));
  }
  return copies;
}

// A run of the tensor form; results are tensors only.
Run run_form(const CheckedCall& call, const TensorFunction& f, Stack arguments) {
  Stack results;
  for (Tensor& t : f(tensors_in(arguments))) results.emplace_back(std::move(t));
  return {&call.schema(), std::move(arguments), std::move(results)};
}
Run run_form(const CheckedCall& call, const TensorFunction& f) {
  return run_form(call, f, copy_arguments(call.arguments, false));
}

// How a run in another way differs from the one as written.
std::string differing(const CheckedCall& call, const Run& written, const Run& other,
                      std::string_view way) {
  std::string text = differing_results(written, other, call.options);
  if (text.empty()) text = differing_arguments(written, other, call.options);
  if (!text.empty()) return str_cat(way, ", ", text);
  return differing_sharing(written, other, {"plain", way});
}

Graph trace_form(const CheckedCall& call, const TensorFunction& f) {
  const Stack arguments = copy_arguments(call.arguments, false);
  Graph graph = trace(f, tensors_in(arguments));
  graph.lint();
  return graph;
}

// How a graph differs from the program that was traced: on its arguments, and on others of the same
// shapes, so that what was burnt into the graph is seen.
std::string differing_graph(const CheckedCall& call, const TensorFunction& f, const Graph& graph,
                            std::string_view way) {
  const TensorFunction run_graph = [&](const Tensors& inputs) { return graph.run(inputs); };
  const std::string text = differing(call, run_form(call, f), run_form(call, run_graph), way);
  if (!text.empty()) return text;
  std::optional<Run> written;
  try {
    written = run_form(call, f, with_other_data(call));
  } catch (const Error&) {
    return "";  // it does not like those
  }
  return differing(call, *written, run_form(call, run_graph, with_other_data(call)),
                   str_cat(way, " and run on other data"));
}

// Why programs with the call are not compared; "" if they are.
std::string reason_to_skip(const CheckedCall& call) {
  return call.is_random(false) ? "it is tagged as not deterministic" : call.unordered_writes();
}

}  // namespace

Finding check_functional(const CheckedCall& call) {
  if (const std::string reason = reason_to_skip(call); !reason.empty()) return skipped(reason);
  const TensorFunction f = tensor_form(call);
  const Run written = run_form(call, f);
  const std::string text =
      differing(call, written, run_form(call, functionalize(f)), "functionalised");
  return text.empty() ? passed() : failed(call, text);
}

Finding check_traced(const CheckedCall& call) {
  if (const std::string reason = reason_to_skip(call); !reason.empty()) return skipped(reason);
  const TensorFunction f = tensor_form(call);
  try {
    const Graph graph = trace_form(call, functionalize(f));
    std::string text = differing_graph(call, f, graph, "traced");
    if (!text.empty()) return failed(call, text);
    if (!call.any_requires_grad()) return passed();
    const TensorFunction g = backward_form(call);
    text = differing_graph(call, g, trace_form(call, g), "traced with its backward");
    if (!text.empty()) return failed(call, text);
  } catch (const DataDependentOutputError& error) {
    return skipped("a trace would burn data in: ", error.what());
  }
  return passed();
}

}  // namespace sb::internal
