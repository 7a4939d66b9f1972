// An operator that calls one function gives what the function gives, in every layer.

#include "switchboard/dispatch/inspect/explain.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/tests/higher_order/regions.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

template <class F>
void for_each_case(F f) {
  for (const Region& region : regions()) {
    for (const RegionProgram& program : region_programs()) {
      INFO(region.name << ": a function " << program.name);
      f(
          region, [&](const Tensors& in) { return program.run(region, in); },
          [&](const Tensors& in) { return program.run(kNoRegion, in); });
    }
  }
}

TEST_CASE("eager, and as a graph that holds the operator") {
  for_each_case([](const Region& region, const Program& program, const Program& plain) {
    const Tensors inputs = different_inputs()[0];
    CHECK(run_all_ways(program, inputs) == text_of(plain(inputs)));
    const Graph graph = trace(program, inputs);
    CHECK_THAT(graph.to_string(), Contains(region.name + "("));
    for (const Tensors& others : different_inputs()) check_close(graph.run(others), plain(others));
  });
}

TEST_CASE("functionalised by key and by mode, and as a graph of that") {
  for_each_case([](const Region&, const Program& program, const Program& plain) {
    const Tensors inputs = different_inputs()[1];
    for (const Program& functional :
         {functionalize(program), FunctionalMode().functionalize(program)}) {
      check_close(functional(inputs), plain(inputs));
      check_close(trace(functional, inputs).run(inputs), plain(inputs));
    }
  });
}

TEST_CASE("on fake tensors") {
  for_each_case([](const Region&, const Program& program, const Program& plain) {
    FakeTensorMode fake;
    const Tensors real = different_inputs()[0];
    Tensors inputs;
    for (const Tensor& t : real) inputs.push_back(fake.from_tensor(t));
    const Tensors results = program(inputs), expected = plain(real);
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      CHECK(is_fake(results[i]));
      CHECK(results[i].sizes() == expected[i].sizes());
      CHECK(results[i].strides() == expected[i].strides());
    }
  });
}

TEST_CASE("what the function writes to operands is written, functionalised too") {
  const auto program = [](const Region& region) -> Program {
    return [&region](const Tensors& in) {
      const Tensor y = in[0] * 1;
      const Tensors results = region.call(
          [](const Tensors& t) {
            select(t[0], 0, 1) += 10;
            return Tensors{t[0] * 2, t[0]};
          },
          {y});
      return Tensors{results[0], results[1], y};
    };
  };
  const Tensors inputs = different_inputs()[0];
  const std::string expected = text_of(program(kNoRegion)(inputs));
  for (const Region& region : regions()) {
    INFO(region.name);
    CHECK(run_all_ways(program(region), inputs) == expected);
    for (const Program& functional :
         {functionalize(program(region)), FunctionalMode().functionalize(program(region))}) {
      CHECK(text_of(functional(inputs)) == expected);
      CHECK(text_of(trace(functional, inputs).run(inputs)) == expected);
    }
  }
}

TEST_CASE("modes that only watch see the call, and what its function calls") {
  for (const Region& region : regions()) {
    LoggingMode log;
    {
      const ModeGuard active(&log);
      region.call([](const Tensors& t) { return Tensors{exp(t[0])}; }, {different_inputs()[0][0]});
    }
    std::string lines;
    for (const std::string& line : log.lines()) lines += line + "\n";
    INFO(lines);
    CHECK_THAT(lines, Contains("higher_order::" + region.name));
    CHECK_THAT(lines, Contains("aten::exp"));
  }
}

TEST_CASE("a graph of constants gives what the graph gives") {
  const Tensors inputs = different_inputs()[0];
  const Program program = [](const Tensors& in) { return Tensors{exp(in[0]) * 2}; };
  const auto graph = std::make_shared<const Graph>(trace(program, inputs));
  CHECK(text_of(run_const_graph(graph, inputs)) == text_of(program(inputs)));
}

TEST_CASE("it is found by its name, with its arguments") {
  for (const Region& region : regions()) CHECK(find_higher_order_op(region.name));
  CHECK(find_higher_order_op("invoke_subgraph")->parameters() ==
        std::vector<std::string>{"subgraph", "identifier", "operands"});
}

}  // namespace
}  // namespace sb::test
