// Which programs cannot run on parts of the batch, and what is said of them.

#include "switchboard/distributed/parallel/batch_split.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/distributed/parallel/testing/test_program.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/io/exported/expression.h"
#include "switchboard/io/exported/graph_runner.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::on_ranks, test::tensor, test::TestProgram, test::waves;

io::Expression expression(const std::string& text) { return io::Expression::parse(text); }
const io::Expression batch = expression("Symbol('s0')");

// y = relu(x), of a batch of six.
TestProgram program() {
  TestProgram p;
  p.input("x", waves({6, 3}));
  p.call("aten::relu", {tensor("self", "x")}, {"y"});
  p.output("y");
  auto& values = p.archive().program.graph.tensor_values;
  values["x"].sizes[0] = values["y"].sizes[0] = batch;
  return p;
}

// What two ranks say of it, or as many as are asked for.
std::string refusal(const TestProgram& p, int64_t ranks = 2) {
  return error_of(
      [&] { run_ranks(ranks, [&] { const BatchSplit split(p.archive().program, p.inputs()); }); });
}

TEST_CASE("each rank runs its part, and all get the whole", "[distributed][parallel]") {
  const TestProgram p = program();
  const std::vector<Tensor> outputs = on_ranks<Tensor>(3, [&](int64_t) {
    const BatchSplit split(p.archive().program, p.inputs());
    const io::GraphRunner runner(p.archive().program);
    const std::vector<IValue> mine = split.part(p.inputs());
    if (mine[0].to_tensor().size(0) != 2) return Tensor();
    return split.gather({runner.run(mine, Device(DeviceType::CPU))[0].to_tensor()})[0];
  });
  for (const Tensor& output : outputs) {
    REQUIRE(output.sizes() == p.value("y").sizes());
    for (int64_t i = 0; i < output.numel(); ++i)
      CHECK(output.data<float>()[i] == p.value("y").data<float>()[i]);
  }
}

TEST_CASE("a program whose batch is not open is refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.archive().program.graph.tensor_values["x"].sizes[0] = 6;
  CHECK_THAT(refusal(p), Contains("ValueError: rank 0: data parallel: test.pt2 has no input whose "
                                  "first dimension, the batch, is dynamic"));
}

TEST_CASE("a first dimension that is made of others is refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.archive().program.graph.tensor_values["x"].sizes[0] =
      expression("Mul(Integer(2), Symbol('s0'))");
  CHECK_THAT(refusal(p),
             Contains("data parallel: x.size(0) is 2*s0, expected a symbol, the batch"));
}

TEST_CASE("open first dimensions of other sizes are refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.input("z", waves({4, 3}));
  p.archive().program.graph.tensor_values["z"].sizes[0] = expression("Symbol('s1')");
  CHECK_THAT(refusal(p),
             Contains("data parallel: z.size(0): expected the batch, 6 as x has, got 4"));
}

TEST_CASE("another dimension that depends on the batch is refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.input("z", waves({2, 6}));
  p.archive().program.graph.tensor_values["z"].sizes[1] = batch;
  CHECK_THAT(refusal(p), Contains("data parallel: z.size(1) is s0, which depends on the batch"));
}

TEST_CASE("a batch that the ranks do not divide is refused", "[distributed][parallel]") {
  CHECK(refusal(program(), 3) == "");
  CHECK_THAT(refusal(program(), 4),
             Contains("data parallel: input 'x': expected a batch that 4 ranks can divide, got 6"));
}

TEST_CASE("an output without the batch is refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.archive().program.graph.tensor_values["y"].sizes[0] = 6;
  CHECK_THAT(refusal(p), Contains("data parallel: output 'y': expected the batch, s0, as its first "
                                  "dimension and no other, got float32[6, 3]"));
  p.archive().program.graph.tensor_values["y"].sizes = {batch, batch};
  CHECK_THAT(refusal(p), Contains("and no other, got float32[s0, s0]"));
}

TEST_CASE("a program that writes to what it takes is refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.archive().program.outputs[0].kind = io::OutputKind::UserInputMutation;
  p.archive().program.outputs[0].target = "x";
  CHECK_THAT(refusal(p), Contains("data parallel: the program writes to 'x', of which each rank "
                                  "would have another"));
}

TEST_CASE("an output that is a number is refused", "[distributed][parallel]") {
  TestProgram p = program();
  p.archive().program.outputs.push_back({io::OutputKind::User, io::SymRef{"n"}, ""});
  CHECK_THAT(refusal(p), Contains("data parallel: an output of the program is a number that "
                                  "depends on sizes"));
}

}  // namespace
}  // namespace sb
