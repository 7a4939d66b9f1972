// A program on parts of its weights gives what it gives on one rank, and sends no more than it
// must.

#include "switchboard/distributed/parallel/tensor_split.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/distributed/parallel/testing/test_program.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::on_ranks, test::tensor, test::TestProgram, test::values_of, test::waves;

// What the collectives are, in order: "all_reduce y".
std::vector<std::string> collectives_of(const TestProgram& p, int64_t ranks) {
  const TensorSplit split(p.archive(), {}, 0, ranks);
  std::vector<std::string> texts;
  for (const AddedCollective& one : split.collectives())
    texts.push_back(one.op.substr(one.op.rfind(':') + 1) + " " + one.value);
  return texts;
}

// How a value lies.
std::vector<std::string> placements_of(const TestProgram& p, const std::string& name,
                                       int64_t ranks) {
  const TensorSplit split(p.archive(), {}, 0, ranks);
  std::vector<std::string> texts;
  for (const PlacedValue& value : split.values())
    if (value.value == name)
      for (const Placement& placement : value.placements) texts.push_back(placement.to_string());
  return texts;
}

// The first output, on each rank.
std::vector<Tensor> run(const TestProgram& p, int64_t ranks) {
  return on_ranks<Tensor>(ranks, [&](int64_t rank) {
    const TensorSplit split(p.archive(), {}, rank, ranks);
    const io::GraphRunner runner(split.archive().program);
    return runner.run(split.part(p.inputs()), Device(DeviceType::CPU))[0].to_tensor();
  });
}

// The largest difference from one rank, over the ranks, as a part of the largest number; -1 for
// other sizes.
double difference(const TestProgram& p, const std::string& output, int64_t ranks) {
  double most = 0, largest = 0;
  for (const Tensor& mine : run(p, ranks)) {
    const Tensor& expected = p.value(output);
    if (mine.sizes() != expected.sizes() || mine.dtype() != expected.dtype()) return -1;
    const std::vector<double> a = values_of(mine), b = values_of(expected);
    for (size_t i = 0; i < a.size(); ++i) {
      most = std::max(most, std::abs(a[i] - b[i]));
      largest = std::max(largest, std::abs(b[i]));
    }
  }
  return most == 0 ? 0 : most / largest;
}

using Texts = std::vector<std::string>;

void add_linear(TestProgram* p, const std::string& from, const std::string& to, int64_t in,
                int64_t out) {
  p->weight("w_" + to, waves({out, in}, static_cast<double>(in)));
  p->weight("b_" + to, waves({out}, 3));
  p->call("aten::linear",
          {tensor("input", from), tensor("weight", "w_" + to), tensor("bias", "b_" + to)}, {to});
}

TEST_CASE("a block of two matrix products sends one all_reduce", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({3, 8}));
  add_linear(&p, "x", "up", 8, 16);
  p.call("aten::gelu", {tensor("self", "up")}, {"act"});
  add_linear(&p, "act", "down", 16, 8);
  p.call("aten::add.Tensor", {tensor("self", "down"), tensor("other", "x")}, {"y"});
  p.output("y");
  for (const int64_t ranks : {1, 2, 4}) CHECK(difference(p, "y", ranks) < 2e-6);
  CHECK(collectives_of(p, 4) == Texts{"all_reduce down"});
  CHECK(placements_of(p, "w_up", 4) == Texts{"Shard(0)"});
  CHECK(placements_of(p, "b_up", 4) == Texts{"Shard(0)"});
  CHECK(placements_of(p, "act", 4) == Texts{"Shard(1)"});
  CHECK(placements_of(p, "w_down", 4) == Texts{"Shard(1)"});
  CHECK(placements_of(p, "down", 4) == Texts{"Partial", "Replicate"});
}

TEST_CASE("a rank has no more than its part of a weight", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({3, 8}));
  add_linear(&p, "x", "y", 8, 16);
  p.output("y");
  const TensorSplit split(p.archive(), {}, 1, 4);
  CHECK(split.archive().weights[0].meta.sizes == std::vector<int64_t>{4, 8});
  CHECK(split.archive().weights[0].data.storage()->nbytes() == 4 * 8 * sizeof(float));
  const std::vector<IValue> mine = split.part(p.inputs());
  CHECK(mine[1].to_tensor().sizes() == IntArrayRef({4, 8}));
  CHECK(difference(p, "y", 4) < 2e-6);
}

TEST_CASE("transposed weights are cut before they are transposed", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({3, 8}));
  p.weight("w", waves({16, 8}));
  p.weight("b", waves({16}));
  p.call("aten::permute", {tensor("self", "w"), {"dims", std::vector<int64_t>{1, 0}}}, {"t"});
  p.call("aten::addmm", {tensor("self", "b"), tensor("mat1", "x"), tensor("mat2", "t")}, {"y"});
  p.output("y");
  for (const int64_t ranks : {2, 4}) CHECK(difference(p, "y", ranks) < 2e-6);
  CHECK(placements_of(p, "w", 4) == Texts{"Shard(0)"});
  CHECK(placements_of(p, "t", 4) == Texts{"Shard(1)"});
  CHECK(collectives_of(p, 4) == Texts{"all_gather_into_tensor y"});
}

// Heads of attention: three products, scaled_dot_product_attention, and one product.
TestProgram attention(int64_t heads) {
  TestProgram p;
  p.input("x", waves({2, 5, 16}));
  const std::vector<int64_t> apart = {2, 5, heads, 16 / heads}, joined = {2, 5, 16};
  for (const std::string name : {"query", "key", "value"}) {
    add_linear(&p, "x", name + "_all", 16, 16);
    p.call("aten::view", {tensor("self", name + "_all"), {"size", apart}}, {name + "_apart"});
    p.call("aten::transpose.int",
           {tensor("self", name + "_apart"), {"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {name});
  }
  p.call("aten::scaled_dot_product_attention",
         {tensor("query", "query"), tensor("key", "key"), tensor("value", "value")}, {"attended"});
  p.call("aten::transpose.int",
         {tensor("self", "attended"), {"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {"back"});
  p.call("aten::reshape", {tensor("self", "back"), {"shape", joined}}, {"joined"});
  add_linear(&p, "joined", "y", 16, 16);
  p.output("y");
  return p;
}

TEST_CASE("attention is computed by heads, and sends one all_reduce", "[distributed][tensor]") {
  const TestProgram p = attention(4);
  for (const int64_t ranks : {2, 4}) {
    CHECK(difference(p, "y", ranks) < 5e-6);
    CHECK(collectives_of(p, ranks) == Texts{"all_reduce y"});
  }
  CHECK(placements_of(p, "attended", 4) == Texts{"Shard(1)"});
}

TEST_CASE("heads that the ranks do not divide are gathered", "[distributed][tensor]") {
  const TestProgram p = attention(2);
  CHECK(difference(p, "y", 4) < 5e-6);
  CHECK(placements_of(p, "attended", 4)[0] == "Replicate");
}

TEST_CASE("one weight for queries, keys and values is cut in each of them",
          "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({2, 5, 16}));
  add_linear(&p, "x", "all", 16, 48);
  p.call("aten::split.Tensor",
         {tensor("self", "all"), {"split_size", int64_t{16}}, {"dim", int64_t{-1}}},
         {"query", "key", "value"});
  p.call("aten::mul.Tensor", {tensor("self", "query"), tensor("other", "key")}, {"product"});
  p.call("aten::mul.Tensor", {tensor("self", "product"), tensor("other", "value")}, {"middle"});
  add_linear(&p, "middle", "y", 16, 16);
  p.output("y");
  for (const int64_t ranks : {2, 4}) {
    CHECK(difference(p, "y", ranks) < 5e-6);
    CHECK(collectives_of(p, ranks) == Texts{"all_reduce y"});
  }
  CHECK(placements_of(p, "w_all", 4) == Texts{"Shard(0, 3)"});
  CHECK(placements_of(p, "key", 4) == Texts{"Shard(2)"});
}

TEST_CASE("batches and heads that become one dimension stay cut by heads",
          "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({2, 5, 16}));
  add_linear(&p, "x", "all", 16, 16);
  p.call("aten::view", {tensor("self", "all"), {"size", std::vector<int64_t>{2, 5, 4, 4}}},
         {"apart"});
  p.call("aten::permute", {tensor("self", "apart"), {"dims", std::vector<int64_t>{0, 2, 1, 3}}},
         {"heads"});
  p.call("aten::reshape", {tensor("self", "heads"), {"shape", std::vector<int64_t>{8, 5, 4}}},
         {"flat"});
  p.call("aten::transpose.int",
         {tensor("self", "flat"), {"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {"turned"});
  p.call("aten::bmm", {tensor("self", "flat"), tensor("mat2", "turned")}, {"scores"});
  p.call("aten::softmax.int", {tensor("self", "scores"), {"dim", int64_t{-1}}}, {"y"});
  p.output("y");
  for (const int64_t ranks : {2, 4}) CHECK(difference(p, "y", ranks) < 5e-6);
  CHECK(placements_of(p, "flat", 2) == Texts{"Shard(0, 2)"});
  CHECK(placements_of(p, "y", 4) == Texts{"Shard(0, 2)", "Replicate"});
  CHECK(collectives_of(p, 4) == Texts{"all_gather_into_tensor y"});
}

TestProgram look_up(const Tensor& rows) {
  TestProgram p;
  p.input("rows", rows);
  p.weight("table", waves({8, 6}));
  p.call("aten::embedding", {tensor("weight", "table"), tensor("indices", "rows")}, {"y"});
  p.output("y");
  return p;
}

TEST_CASE("ranks have rows of a table, and add what they look up", "[distributed][tensor]") {
  const TestProgram p = look_up(view(arange(8), {2, 4}));
  for (const int64_t ranks : {2, 4}) CHECK(difference(p, "y", ranks) == 0);
  CHECK(placements_of(p, "table", 4) == Texts{"Shard(0)"});
  CHECK(collectives_of(p, 4) == Texts{"all_reduce y"});
}

TEST_CASE("a row that no rank has is an error as on one rank", "[distributed][tensor]") {
  for (const double row : {-1.0, 8.0}) {
    TestProgram p = look_up(view(arange(8), {2, 4}));
    std::vector<IValue> inputs = {full({2, 4}, row, DType::Int64), p.inputs()[1]};
    const std::string error = error_of([&] {
      on_ranks<Tensor>(2, [&](int64_t rank) {
        const TensorSplit split(p.archive(), {}, rank, 2);
        const io::GraphRunner runner(split.archive().program);
        return runner.run(split.part(inputs), Device(DeviceType::CPU))[0].to_tensor();
      });
    });
    CHECK_THAT(error, Contains("rank 0: ") && Contains("index"));
  }
}

TEST_CASE("a table that is a matrix, too, is cut once", "[distributed][tensor]") {
  TestProgram p;
  p.input("rows", view(arange(8), {2, 4}));
  p.weight("table", waves({8, 6}));
  p.call("aten::embedding", {tensor("weight", "table"), tensor("indices", "rows")}, {"x"});
  p.call("aten::relu", {tensor("self", "x")}, {"middle"});
  p.call("aten::linear", {tensor("input", "middle"), tensor("weight", "table")}, {"y"});
  p.output("y");
  for (const int64_t ranks : {2, 4}) CHECK(difference(p, "y", ranks) < 2e-6);
  CHECK(placements_of(p, "table", 4) == Texts{"Shard(0)"});
}

// A linear layer, something on its result, which is cut by columns, and its sum over all.
TestProgram after_linear(const std::string& target, std::vector<io::NamedArgument> arguments) {
  TestProgram p;
  p.input("x", waves({4, 8}));
  add_linear(&p, "x", "middle", 8, 16);
  arguments.insert(arguments.begin(), tensor("self", "middle"));
  p.call(target, arguments, {"y"});
  p.output("y");
  return p;
}

TEST_CASE("an operator that no rule knows gets whole tensors", "[distributed][tensor]") {
  const TestProgram p = after_linear(
      "aten::roll", {{"shifts", std::vector<int64_t>{3}}, {"dims", std::vector<int64_t>{1}}});
  for (const int64_t ranks : {2, 4}) CHECK(difference(p, "y", ranks) < 2e-6);
  CHECK(collectives_of(p, 2) == Texts{"all_gather_into_tensor middle"});
}

TEST_CASE("softmax gathers the dimension that it is over, and no other", "[distributed][tensor]") {
  const TestProgram over = after_linear("aten::softmax.int", {{"dim", int64_t{1}}});
  const TestProgram beside = after_linear("aten::softmax.int", {{"dim", int64_t{0}}});
  CHECK(difference(over, "y", 4) < 2e-6);
  CHECK(difference(beside, "y", 4) < 2e-6);
  CHECK(collectives_of(over, 4) == Texts{"all_gather_into_tensor middle"});
  CHECK(collectives_of(beside, 4) == Texts{"all_gather_into_tensor y"});
}

TEST_CASE("a sum over what is cut adds the ranks' sums", "[distributed][tensor]") {
  const TestProgram p = after_linear("aten::sum.dim_IntList", {{"dim", std::vector<int64_t>{1}}});
  CHECK(difference(p, "y", 4) < 1e-5);
  CHECK(collectives_of(p, 4) == Texts{"all_reduce y"});
}

TEST_CASE("a mean over what is cut gathers", "[distributed][tensor]") {
  const TestProgram p = after_linear("aten::mean.dim", {{"dim", std::vector<int64_t>{1}}});
  CHECK(difference(p, "y", 4) < 1e-5);
  CHECK(collectives_of(p, 4) == Texts{"all_gather_into_tensor middle"});
}

TEST_CASE("parts of a dimension that is cut are gathered, and all of it is not",
          "[distributed][tensor]") {
  const TestProgram some = after_linear(
      "aten::slice.Tensor", {{"dim", int64_t{1}}, {"start", int64_t{3}}, {"end", int64_t{9}}});
  const TestProgram all = after_linear(
      "aten::slice.Tensor", {{"dim", int64_t{1}}, {"start", int64_t{0}}, {"end", int64_t{16}}});
  CHECK(difference(some, "y", 4) < 2e-6);
  CHECK(difference(all, "y", 4) < 2e-6);
  CHECK(collectives_of(some, 4) == Texts{"all_gather_into_tensor middle"});
  CHECK(collectives_of(all, 4) == Texts{"all_gather_into_tensor y"});
}

TEST_CASE("results that the ranks do not divide are made of summands", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({3, 8}));
  add_linear(&p, "x", "y", 8, 10);
  p.output("y");
  CHECK(difference(p, "y", 4) < 2e-6);
  CHECK(placements_of(p, "w_y", 4) == Texts{"Shard(1)"});
  CHECK(collectives_of(p, 4) == Texts{"all_reduce y"});
}

TEST_CASE("what is gathered or added once serves all who want it whole", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({3, 8}));
  add_linear(&p, "x", "middle", 8, 16);
  p.call("aten::softmax.int", {tensor("self", "middle"), {"dim", int64_t{1}}}, {"a"});
  p.call("aten::softmax.int", {tensor("self", "middle"), {"dim", int64_t{-1}}}, {"b"});
  p.call("aten::add.Tensor", {tensor("self", "a"), tensor("other", "b")}, {"y"});
  p.output("y");
  CHECK(difference(p, "y", 4) < 2e-6);
  CHECK(collectives_of(p, 4) == Texts{"all_gather_into_tensor middle"});
}

TEST_CASE("a stream that is added to and normalised again and again is gathered once",
          "[distributed][tensor]") {
  TestProgram p;
  p.input("rows", view(arange(8), {2, 4}));
  p.weight("table", waves({9, 8}));
  p.call("aten::embedding", {tensor("weight", "table"), tensor("indices", "rows")}, {"x"});
  p.call("aten::softmax.int", {tensor("self", "x"), {"dim", int64_t{-1}}}, {"a"});
  p.call("aten::add.Tensor", {tensor("self", "x"), tensor("other", "a")}, {"b"});
  p.call("aten::softmax.int", {tensor("self", "b"), {"dim", int64_t{-1}}}, {"y"});
  p.output("y");
  CHECK(difference(p, "y", 4) < 2e-6);
  CHECK(placements_of(p, "table", 4) == Texts{"Shard(1)"});
  CHECK(collectives_of(p, 4) == Texts{"all_gather_into_tensor x"});
}

TEST_CASE("a convolution of each channel by itself goes on with parts", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({2, 5, 8}));
  add_linear(&p, "x", "middle", 8, 16);
  p.call("aten::transpose.int",
         {tensor("self", "middle"), {"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {"channels"});
  p.weight("w", waves({16, 1, 3}));
  p.call("aten::conv1d",
         {tensor("input", "channels"),
          tensor("weight", "w"),
          {"padding", std::vector<int64_t>{1}},
          {"groups", int64_t{16}}},
         {"y"});
  p.output("y");
  CHECK(difference(p, "y", 4) < 2e-6);
  CHECK(placements_of(p, "w", 4) == Texts{"Shard(0)"});
}

TEST_CASE("a number that is added once to summands is added once", "[distributed][tensor]") {
  TestProgram p;
  p.input("x", waves({3, 8}));
  add_linear(&p, "x", "up", 8, 16);
  add_linear(&p, "up", "down", 16, 8);
  p.call("aten::add.Tensor", {tensor("self", "down"), {"other", 1.0}}, {"y"});
  p.output("y");
  CHECK(difference(p, "y", 4) < 1e-5);
}

TEST_CASE("programs that parts cannot be made of are refused by node", "[distributed][tensor]") {
  const auto refusal = [](const TestProgram& p) {
    return error_of([&] { TensorSplit(p.archive(), {}, 0, 2); });
  };
  const TestProgram writes = after_linear("aten::relu_", {});
  CHECK_THAT(refusal(writes), Contains("NotImplementedError: tensor parallel: ") &&
                                  Contains("nodes[1] (y): aten::relu_: it writes to a tensor"));
  const TestProgram draws = after_linear("aten::rand_like", {});
  CHECK_THAT(refusal(draws), Contains("aten::rand_like: it draws random numbers"));
  const TestProgram strides = after_linear(
      "aten::as_strided", {{"size", std::vector<int64_t>{2}}, {"stride", std::vector<int64_t>{1}}});
  CHECK_THAT(refusal(strides),
             Contains("aten::as_strided: what it gives depends on how its tensor lies"));
  TestProgram ranks = after_linear("aten::relu", {});
  ranks.archive().program.graph.nodes.back().op = "_c10d_functional::all_reduce";
  CHECK_THAT(refusal(ranks), Contains("the program knows ranks itself"));
}

}  // namespace
}  // namespace sb
