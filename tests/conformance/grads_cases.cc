#include "switchboard/tests/conformance/grads_cases.h"

#include <algorithm>
#include <utility>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/call_check.h"

namespace sb::conformance {
namespace {

// The tensors of results, those in lists included. None, and an undefined tensor, are no outputs.
std::vector<Tensor> outputs_in(const std::vector<IValue>& results) {
  std::vector<Tensor> outputs;
  for (const IValue& value : results)
    value.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) outputs.push_back(t);
    });
  return outputs;
}

// One case, run once.
class GradsCase {
 public:
  GradsCase(const Json& json, Place& place, const Dispatcher& dispatcher)
      : json_(json), place_(place), dispatcher_(dispatcher), tolerance_(read_tolerance(json)) {}

  Outcome run() {
    try {
      return Outcome::of(json_.contains("op") ? call() : program());
    } catch (const Error& error) {
      if (!place_.has_data() && depends_on_data(error))
        return Outcome::skipped("depends on data", doing_);
      return Outcome::failed(str_cat(doing_, " raised ", error.kind(), ": ", error.what()));
    }
  }

 private:
  Difference call() {
    CaseCall call = prepare_call(json_, place_, dispatcher_);
    // An argument that the operator writes to is never among them: to write to a leaf that requires
    // a gradient is an error. Gradients of what an operator overwrites are what programs are for,
    // which write to a clone.
    for (const auto& [path, spec] : json_.at("grads").items())
      make_leaf(path, call.arguments.at(path));
    CallCheck check(json_, place_, call.arguments);
    const std::vector<IValue> results = make(&call);
    if (auto d = check.results(results)) return d;
    if (auto d = check.arguments()) return d;
    if (auto d = go_backward(outputs_in(results))) return d;
    if (auto d = gradients(call.arguments.tensors)) return d;
    if (auto d = check.arguments()) return str_cat("after backward: ", *d);
    return std::nullopt;
  }

  Difference program() {
    KnownTensors known;
    std::vector<Arguments::Named> inputs;
    for (const Json& input : json_.at("inputs")) {
      inputs.push_back({str_cat("inputs.", inputs.size()), build_tensor(input, place_)});
      known[inputs.back().path] = inputs.back().tensor;
      make_leaf(inputs.back().path, inputs.back().tensor);
    }
    size_t number = 0;
    for (const Json& step : json_.at("steps")) {
      CaseCall call = prepare_call(step, place_, dispatcher_, known);
      size_t i = 0;
      for (const Tensor& t : outputs_in(make(&call)))
        known[str_cat("steps.", number, ".", i++)] = t;
      ++number;
    }
    std::vector<Tensor> outputs;
    for (const Json& path : json_.at("outputs"))
      outputs.push_back(known_tensor(known, path.get<std::string>()));
    const Json& expected = json_.at("returns");
    if (expected.size() != outputs.size())
      throw MalformedCase("a program must have as many outputs as returns");
    for (size_t i = 0; i < outputs.size(); ++i)
      if (auto d = compare(expected[i].at("tensor"), outputs[i]))
        return str_cat("returns.", i, ": ", *d);
    if (auto d = go_backward(outputs)) return d;
    return gradients(inputs);
  }

  // Arguments are built without operators, so that autograd takes them for no views: they may
  // become leaves, whatever their strides are.
  void make_leaf(const std::string& path, const Tensor& tensor) {
    doing_ = str_cat("a leaf of ", path);
    set_requires_grad(tensor);
  }

  // The arguments end with the call, as a program's would: lists, too, are gone when a derivative
  // wants them, unless its node has kept them.
  std::vector<IValue> make(CaseCall* call) {
    doing_ = call->op.name().to_string();
    return place_.call(call->op, std::exchange(call->arguments.positional, {}),
                       std::exchange(call->arguments.keyword, {}));
  }

  Difference go_backward(const std::vector<Tensor>& outputs) {
    const Json& grad_outputs = json_.at("grad_outputs");
    if (grad_outputs.size() != outputs.size())
      return str_cat("expected ", grad_outputs.size(), " outputs, got ", outputs.size());
    std::vector<Tensor> roots, grads;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (grad_outputs[i].is_null()) {
        if (!requires_grad(outputs[i])) continue;
        return str_cat("output ", i, ": expected one without a gradient, got one that requires it");
      }
      roots.push_back(outputs[i]);
      grads.push_back(build_tensor(grad_outputs[i], place_));
    }
    doing_ = "backward";
    place_.run([&] { backward(roots, grads); });
    return std::nullopt;
  }

  // `tensors` are those that may have got a gradient.
  Difference gradients(const std::vector<Arguments::Named>& tensors) {
    const Json& expected = json_.at("grads");
    std::vector<Tensor> named;
    for (const auto& [path, spec] : expected.items()) {
      const auto at = std::find_if(tensors.begin(), tensors.end(),
                                   [&path = path](const auto& t) { return t.path == path; });
      if (at == tensors.end()) throw MalformedCase(str_cat("no tensor ", path));
      named.push_back(at->tensor);
      if (auto d = compare(spec, grad_of(at->tensor))) return str_cat("grads.", path, ": ", *d);
    }
    for (const auto& [path, tensor] : tensors) {
      const auto is_it = [&tensor = tensor](const Tensor& t) { return t.is_same(tensor); };
      if (std::any_of(named.begin(), named.end(), is_it)) continue;
      if (const Tensor grad = grad_of(tensor); grad.defined())
        return str_cat("grads.", path, ": expected none, got ", grad.describe());
    }
    return std::nullopt;
  }

  // dtype, shape and elements.
  Difference compare(const Json& json, const Tensor& tensor) {
    if (!tensor.defined()) return std::string("expected a tensor, got none");
    const TensorSpec spec = read_tensor_spec(json);
    const TensorState state = state_of(tensor, place_);
    if (auto d = compare_dtype_and_shape(spec, state)) return d;
    if (!place_.owns(tensor))
      return str_cat("expected a tensor of ", place_.name(), ", got ", tensor.describe());
    return compare_elements(spec, state, tolerance_);
  }

  const Json& json_;
  Place& place_;
  const Dispatcher& dispatcher_;
  Tolerance tolerance_;
  std::string doing_ = "nothing";  // what an error comes from
};

}  // namespace

Outcome run_grads_case(const Json& json, Place& place, const Dispatcher& dispatcher) {
  return outcome_of([&] { return GradsCase(json, place, dispatcher).run(); });
}

}  // namespace sb::conformance
