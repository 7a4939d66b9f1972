#include "switchboard/tests/conformance/grads_cases.h"

#include <utility>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/call_check.h"
#include "switchboard/tests/conformance/leaves.h"
#include "switchboard/tests/conformance/program.h"

namespace sb::conformance {
namespace {

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
    if (auto d = go_backward(tensors_in(results))) return d;
    if (auto d = gradients(call.arguments.tensors)) return d;
    if (auto d = check.arguments()) return str_cat("after backward: ", *d);
    return std::nullopt;
  }

  Difference program() {
    const Leaves made = make_leaves(json_.at("inputs"), "inputs", place_, dispatcher_);
    ProgramRunner runner(json_, place_, dispatcher_);
    std::vector<Tensor> outputs;
    try {
      outputs = runner.run(made.inputs);
    } catch (const Error&) {
      doing_ = runner.step();
      throw;
    }
    const Json& expected = json_.at("returns");
    if (expected.size() != outputs.size())
      throw MalformedCase("a program must have as many outputs as returns");
    for (size_t i = 0; i < outputs.size(); ++i)
      if (auto d = compare_tensor(expected[i].at("tensor"), outputs[i], place_, tolerance_))
        return str_cat("returns.", i, ": ", *d);
    if (auto d = go_backward(outputs)) return d;
    return gradients(made.leaves);
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
    Roots roots;
    if (auto d = find_roots(outputs, json_.at("grad_outputs"), place_, &roots)) return d;
    doing_ = "backward";
    place_.run([&] { backward(roots.tensors, roots.grads); });
    return std::nullopt;
  }

  // `tensors` are those that may have got a gradient.
  Difference gradients(const std::vector<Arguments::Named>& tensors) {
    return compare_gradients(
        json_.at("grads"), tensors, [&](size_t i) { return grad_of(tensors[i].tensor); },
        Unnamed::None, place_, tolerance_);
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
