// Functionalised programs on tensors without data, and as graphs.

#include "catch2/catch.hpp"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/functionalize/programs.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

// Program, run on fakes of its inputs on a device that is not here.
std::string run_on_fakes(const Program& program, const TensorFunction& f) {
  FakeTensorMode fake({.allow_non_fake_inputs = true});
  Tensors inputs;
  for (const Tensor& input : program.inputs(DeviceType::CPU))
    inputs.push_back(fake.from_tensor(input, Device("cuda:0")));
  FakeTensorModeGuard active(fake);
  Tensors all = f(inputs);
  for (const Tensor& t : all) CHECK(is_fake(t));
  all.insert(all.end(), inputs.begin(), inputs.end());
  return text_of(all);
}

TEST_CASE("functionalised programs on fake tensors have the shapes of the programs as written") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  for (const Program& program : programs()) {
    INFO(program.name << ", " << (route == Route::Key ? "by the key" : "by the mode"));
    std::string written, functional;
    CHECK_NOTHROW(written = run_on_fakes(program, program.run));
    CHECK_NOTHROW(functional = run_on_fakes(program, functionalized(route, program.run)));
    CHECK(functional == written);
  }
}

TEST_CASE("the graph of a functionalised program mutates nothing but inputs, at its end") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor x = counting({2, 2}, DeviceType::CPU);
  const Graph graph = trace(functionalized(route,
                                           [](const Tensors& in) {
                                             add_Scalar_(select(in[0], 0, 1), 1);
                                             return Tensors{mul(in[0], in[0])};
                                           }),
                            {x});
  const std::string text = graph.to_string();
  INFO(text);
  CHECK(text.find("add_") == std::string::npos);
  CHECK(text.find("select_scatter") != std::string::npos);
  CHECK(text.rfind("copy_") > text.find("mul"));
}

TEST_CASE("a graph traced from a functionalised program computes what the program does") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  for (const Program& program : programs()) {
    INFO(program.name << ", " << (route == Route::Key ? "by the key" : "by the mode"));
    const Tensors written_inputs = program.inputs(DeviceType::CPU);
    Tensors written = program.run(written_inputs);
    const Graph graph = trace(functionalized(route, program.run), program.inputs(DeviceType::CPU));
    const Tensors inputs = program.inputs(DeviceType::CPU);
    Tensors results = graph.run(inputs);
    CHECK(text_of(results) == text_of(written));
    CHECK(text_of(inputs) == text_of(written_inputs));
  }
}

}  // namespace
}  // namespace sb::test
