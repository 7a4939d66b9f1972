// The operator in programs that are transformed: functionalised, and traced, as a compiler does.

#include <algorithm>

#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/custom_ops/opcheck/compare_fakes.h"
#include "switchboard/custom_ops/opcheck/tensor_form.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_tensor_mode.h"
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
    GradcheckNumbers numbers = numbers_of(t);
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

// A function under symbolic sizes: what it gave, and gave up.
struct SymbolicRun {
  Tensors results;
  std::string refusal;  // why nothing can be said: data decides, or a kernel wants numbers
};

// Traces it on fake tensors whose sizes are symbols.
SymbolicRun trace_symbolic(const CheckedCall& call, const TensorFunction& f) {
  FakeTensorOptions options;
  options.cache_use = FakeCacheUse::Off;
  options.shape_env = ShapeEnv::create();
  FakeTensorMode fake(std::move(options));
  const Stack real = copy_arguments(call.arguments, false);
  Tensors fakes;
  for (const Tensor& t : tensors_in(real)) fakes.push_back(fake.from_tensor(t));
  SymbolicRun run;
  const TensorFunction kept = [&](const Tensors& inputs) { return run.results = f(inputs); };
  try {
    const FakeTensorModeGuard active(fake);
    trace(kept, fakes).lint();
  } catch (const UnsupportedOperatorError& error) {
    run.refusal = error.what();
  } catch (const DataDependentOutputError& error) {
    run.refusal = error.what();
  } catch (const DynamicOutputShapeError& error) {
    run.refusal = error.what();
  } catch (const GuardOnDataDependentError& error) {
    run.refusal = error.what();
  }
  return run;
}

// How the results under symbolic sizes differ from real ones.
Finding check_symbolic(const CheckedCall& call, const TensorFunction& f, std::string_view way) {
  const SymbolicRun symbolic = trace_symbolic(call, f);
  if (!symbolic.refusal.empty()) return skipped("not ", way, ": ", symbolic.refusal);
  const Tensors real = f(tensors_in(copy_arguments(call.arguments, false)));
  std::vector<NamedTensor> expected, got;
  for (const Tensor& t : real) expected.push_back({str_cat("result ", expected.size()), t});
  for (const Tensor& t : symbolic.results) got.push_back({"", t});
  const std::string text = differing_fakes(expected, got, std::nullopt);
  return text.empty() ? passed() : failed(call, way, ", ", text);
}

// The first difference between the program as written and what is made of it.
std::string differing_static(const CheckedCall& call) {
  const TensorFunction f = tensor_form(call);
  std::string text =
      differing(call, run_form(call, f), run_form(call, functionalize(f)), "functionalised");
  if (text.empty()) text = differing_graph(call, f, trace_form(call, functionalize(f)), "traced");
  if (!text.empty() || !call.any_requires_grad()) return text;
  const TensorFunction g = backward_form(call);
  return differing_graph(call, g, trace_form(call, g), "traced with its backward");
}

Finding check_dynamic(const CheckedCall& call) {
  const Finding forward =
      check_symbolic(call, functionalize(tensor_form(call)), "traced with symbolic sizes");
  if (forward.outcome != OpCheckResult::Outcome::Passed || !call.any_requires_grad())
    return forward;
  return check_symbolic(call, backward_form(call), "traced with symbolic sizes and its backward");
}

Finding check(const CheckedCall& call, bool dynamic) {
  if (const std::string reason = reason_to_skip(call); !reason.empty()) return skipped(reason);
  try {
    const std::string text = differing_static(call);
    if (!text.empty()) return failed(call, text);
    return dynamic ? check_dynamic(call) : passed();
  } catch (const DataDependentOutputError& error) {
    return skipped("a trace would burn data in: ", error.what());
  }
}

}  // namespace

Finding check_aot_dispatch_static(const CheckedCall& call) { return check(call, false); }
Finding check_aot_dispatch_dynamic(const CheckedCall& call) { return check(call, true); }

}  // namespace sb::internal
