// What a call by values gives, its dtype above all, is what PyTorch's gives, by packets and
// overloads.

#include <optional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/values/recorded_values.h"

namespace sb::test {
namespace {

// What the call gives, or "refused" with the error.
std::pair<Json, std::string> run(const OpOverloadPacket& packet, const std::string& way,
                                 const Json& args) {
  Arguments arguments;
  for (const Json& value : args) arguments.push_back(value_of(value));
  try {
    const Arguments results =
        way == "packet" ? packet.call(arguments) : packet[way].call(arguments);
    return {results.size() == 1 ? json_of(results[0]) : json_of(IValue(results)), ""};
  } catch (const Error& error) {
    return {"refused", error.what()};
  }
}

struct Count {
  int same = 0, absent = 0;
  std::vector<std::string> wrong;
};

// `recorded`: the value; null where the call is refused.
void check(const OpOverloadPacket& packet, const std::string& way, const Json& args,
           const Json* recorded, Count* count) {
  const auto [got, error] = run(packet, way, args);
  if (recorded ? matches(*recorded, got) : got == "refused") {
    ++count->same;
    return;
  }
  count->wrong.push_back(str_cat(packet.name(), " ", way, " ", args.dump(), ": recorded ",
                                 recorded ? recorded->dump() : "refused", ", got ", got.dump(), " ",
                                 error));
}

TEST_CASE("calls of packets and overloads give the recorded results", "[values]") {
  Count count;
  for (const Json& row : lines_of("results.jsonl")) {
    for (const std::string& op : row["ops"].get<std::vector<std::string>>()) {
      const OpOverloadPacket packet(default_dispatcher(), "aten::" + op);
      for (const std::string way : row["ways"]) {
        if (way != "packet" && !packet.find(way)) {
          count.absent += static_cast<int>(row["gives"].size() + row["refused"].size());
          continue;
        }
        for (const auto& [args, value] : row["gives"].items())
          check(packet, way, numbered_values(args), &numbered_value(value), &count);
        for (const std::string args : row["refused"])
          check(packet, way, numbered_values(args), nullptr, &count);
      }
    }
  }
  WARN(str_cat(count.same, " results as recorded; ", count.absent,
               " of overloads that are not here"));
  for (const std::string& text : count.wrong) UNSCOPED_INFO(text);
  CHECK(count.wrong.empty());
}

// What an exported program gives that multiplies its input by a number.
Tensor run_exported(const std::string& overload, const Tensor& x, const Scalar& number) {
  io::Argument argument = number.to<double>();
  if (number.kind() == DType::Bool) argument = number.to<bool>();
  if (number.kind() == DType::Int64) argument = number.to<int64_t>();
  io::Node node;
  node.op = "aten::mul";
  node.overload = overload;
  node.name = "y";
  node.inputs = {{"self", io::TensorRef{"x"}}, {"other", argument}};
  node.outputs = {io::TensorRef{"y"}};
  io::Program program;
  program.origin = "values.pt2";
  program.inputs = {{io::InputKind::User, "x", "", false, io::TensorRef{"x"}}};
  program.outputs = {{io::OutputKind::User, io::TensorRef{"y"}, ""}};
  program.graph.inputs = {io::TensorRef{"x"}};
  program.graph.outputs = {io::TensorRef{"y"}};
  program.graph.nodes = {node};
  return io::GraphRunner(program).run({x}, DeviceType::CPU)[0].to_tensor();
}

TEST_CASE("a typed call with a Scalar and calls by values have one dtype", "[values]") {
  const auto check = [](const Tensor& x, const Scalar& number) {
    const DType typed = mul_Scalar(x, number).dtype();
    CHECK(typed == mul(x, wrapped_scalar_tensor(number)).dtype());
    CHECK(typed == ops["aten"]["mul"](x, IValue(number))[0].to_tensor().dtype());
    CHECK(typed == ops["aten"]["mul"](IValue(number), x)[0].to_tensor().dtype());
    CHECK(typed == ops["aten"]["mul"]["Scalar"](x, IValue(number))[0].to_tensor().dtype());
    CHECK(typed == ops["aten"]["mul"]["Tensor"](x, IValue(number))[0].to_tensor().dtype());
    CHECK(typed == mul_Scalar.handle().call({x, IValue(number)})[0].to_tensor().dtype());
    Graph graph;
    graph.output({graph.call(mul_Scalar.handle(), {x, IValue(number)}),
                  graph.call(mul.handle(), {x, IValue(number)})});
    for (const Tensor& result : graph.run({})) CHECK(result.dtype() == typed);
    for (const char* overload : {"Scalar", "Tensor"})
      CHECK(run_exported(overload, x, number).dtype() == typed);
  };
  for (const DType dtype : {DType::Bool, DType::UInt8, DType::Int32, DType::Float16, DType::Float32,
                            DType::Complex64}) {
    const Tensor x = ones({2}, dtype);
    for (const Scalar& number : {Scalar(true), Scalar(2), Scalar(2.5)}) check(x, number);
  }
  CHECK(mul_Scalar(ones({2}, DType::Bool), true).dtype() == DType::Bool);
}

}  // namespace
}  // namespace sb::test
