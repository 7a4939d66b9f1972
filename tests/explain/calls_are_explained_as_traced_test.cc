// What explain() says of a call is what a trace of it shows: every kernel, whatever stands in the
// way.

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/dispatch/objects/python_dispatcher.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/conformance/runner.h"
#include "switchboard/tests/explain/explained_calls.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

void report(const std::string& what, const ExplainedCalls& calls) {
  WARN(str_cat(what, ": ", calls.to_string()));
  for (const std::string& text : calls.texts()) UNSCOPED_INFO(text);
  CHECK(calls.otherwise() == 0);
}

TEST_CASE("recorded calls are explained as traced, in every place", "[explain]") {
  const std::string name = GENERATE("cpu", "meta", "dummy", "fake", "fake:cuda:0");
  ExplainedCalls calls;
  {
    const ExplainCallsGuard explain(&calls);
    for (const char* file : {"ops", "grads"}) {
      std::ostringstream out;
      conformance::Tally tally;
      run_file(str_cat("tests/conformance/data/", file, ".jsonl"), *conformance::make_place(name),
               {}, out, &tally);
    }
  }
  report(name, calls);
  CHECK(calls.as_traced() > 50);
}

// ---- A program with calls of every kind, under layers.

using Keywords = std::vector<std::pair<std::string, IValue>>;

IValue call(std::string_view name, std::vector<IValue> arguments, Keywords keyword = {}) {
  const OperatorHandle op = default_dispatcher().find_op_or_throw(name);
  Stack stack = bind_arguments(op.schema(), std::move(arguments), std::move(keyword));
  call_explained(op, &stack);
  return stack.empty() ? IValue() : stack[0];
}

std::vector<Tensor> program(const std::vector<Tensor>& inputs) {
  const Tensor x = call("aten::mul.Tensor", {inputs[0], 2.0}).to_tensor();
  call("aten::add_.Tensor", {x, inputs[1]});
  const Tensor row = call("aten::select.int", {x, 0, 0}).to_tensor();
  call("aten::mul_.Scalar", {row, 3});
  const Tensor t = call("aten::t", {x}).to_tensor();
  const Tensor zeros = call("aten::zeros", {std::vector<int64_t>{2, 2}}).to_tensor();
  if (!requires_grad(t)) call("aten::add.out", {t, 1}, {{"out", zeros}});
  const Tensor y = call("aten::linear", {x, t}).to_tensor();
  const Tensor z = call("aten::empty_like", {y}).to_tensor();
  call("aten::copy_", {z, y});
  call("aten::unsqueeze_", {z, 0});
  return {call("aten::sum", {y}).to_tensor(), z};
}

struct Layered {
  std::string name;
  std::function<void(const std::vector<Tensor>& inputs)> run;
};

std::vector<Layered> layered_programs() {
  const auto run = [](const TensorFunction& f) {
    return [f](const std::vector<Tensor>& inputs) { f(inputs); };
  };
  const auto watched = [](const std::vector<Tensor>& inputs) {
    LoggingMode logging([](const std::string&) {});
    CountingMode counting;
    const ModeGuard first(&logging), second(&counting);
    return program(inputs);
  };
  const auto on_fakes = [](const TensorFunction& f) {
    return [f](const std::vector<Tensor>& inputs) {
      FakeTensorMode fake;
      std::vector<Tensor> fakes;
      for (const Tensor& t : inputs) fakes.push_back(fake.from_tensor(t));
      const FakeTensorModeGuard guard(fake);
      f(fakes);
    };
  };
  return {
      {"eager", run(program)},
      {"watched", run(watched)},
      {"functionalized", run(functionalize(program))},
      {"functional mode", run(FunctionalMode().functionalize(program))},
      {"traced", [](const std::vector<Tensor>& inputs) { trace(program, inputs); }},
      {"traced, functionalized",
       [](const std::vector<Tensor>& inputs) { trace(functionalize(program), inputs); }},
      {"functionalized, watched", run(functionalize(watched))},
      {"fake", on_fakes(program)},
      {"fake, functionalized", on_fakes(functionalize(program))},
      {"fake, watched", on_fakes(watched)},
      {"python dispatcher",
       [](const std::vector<Tensor>& inputs) {
         const EnablePythonDispatcher on;
         program(inputs);
       }},
  };
}

TEST_CASE("a program's calls are explained as traced, under every layer", "[explain]") {
  for (const bool grad : {false, true}) {
    for (const Layered& layered : layered_programs()) {
      ExplainedCalls calls;
      {
        const ExplainCallsGuard explain(&calls);
        const Tensor x = ones({2, 2});
        if (grad) set_requires_grad(x, true);
        layered.run({x, ones({2, 2})});
      }
      report(str_cat(layered.name, grad ? ", with gradients" : ""), calls);
      CHECK(calls.as_traced() >= 10);
    }
  }
}

// ---- The comparison itself.

PathStep step(DispatchKey key, PathStep::Onward onward) {
  PathStep step;
  step.op = "demo::f";
  step.row = {key, ResolutionRule::Kernel, key, true, false, false, SourceLocation::current()};
  step.onward = onward;
  return step;
}
TraceEvent event(const PathStep& step, int depth, bool threw = false) {
  TraceEvent event;
  event.op = step.op;
  event.key = step.row.key;
  event.where = to_string(step.row.where);
  event.depth = depth;
  event.threw = threw;
  return event;
}

TEST_CASE("a trace that goes another way, ends early or goes on is not as explained") {
  using enum PathStep::Onward;
  const PathStep first = step(DispatchKey::AutogradCPU, GoesOn),
                 last = step(DispatchKey::CPU, Ends);
  const std::vector<PathStep> path = {first, last};
  CHECK(compare(path, {event(first, 0), event(last, 1)}) == Explained::AsTraced);
  CHECK(compare(path, {}) == Explained::Otherwise);
  CHECK(compare(path, {event(last, 0)}) == Explained::Otherwise);
  CHECK(compare(path, {event(first, 0)}) == Explained::Otherwise);
  CHECK(compare(path, {event(first, 0, true)}) == Explained::AsTraced);
  const PathStep ends = step(DispatchKey::AutogradCPU, Ends);
  CHECK(compare({ends}, {event(ends, 0)}) == Explained::AsTraced);
  CHECK(compare({ends}, {event(ends, 0), event(last, 1)}) == Explained::Otherwise);
  const PathStep decides = step(DispatchKey::AutogradCPU, Decides);
  CHECK(compare({decides, last}, {event(decides, 0)}) == Explained::Decided);
  CHECK(compare({decides, last}, {event(decides, 0), event(last, 1)}) == Explained::Decided);
  CHECK(compare({decides, last}, {event(decides, 0), event(step(DispatchKey::Meta, Ends), 1)}) ==
        Explained::Otherwise);
  PathStep missing = step(DispatchKey::CPU, Fails);
  missing.row.has_kernel = false;
  CHECK(compare({missing}, {}) == Explained::AsTraced);
  CHECK(compare({first, missing}, {event(first, 0, true)}) == Explained::AsTraced);
  CHECK(compare({first, missing}, {event(first, 0)}) == Explained::Otherwise);
}

}  // namespace
}  // namespace sb::test
