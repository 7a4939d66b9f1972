#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/testing/order_case.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a case is read from the flags of the macro") {
  const OrderCase order = parse_order_case(
      {"--op=demo::f", "--tensor=xs=CPU,AutogradCPU", "--tensor=xs=meta", "--tensor=y=undefined",
       "--tensor=z=", "--shape=xs=2x3", "--shape=*=", "--arg=text=\"a=b\"", "--include=Tracer",
       "--exclude=AutogradCPU", "--expect=CPU", "--expect=Meta fails"});
  CHECK(order.op == "demo::f");
  REQUIRE(order.tensors.at("xs").size() == 2);
  CHECK(order.tensors.at("xs")[0].keys == DispatchKeySet{K::CPU, K::AutogradCPU});
  CHECK(order.tensors.at("xs")[1].keys == tensor_key_set(DeviceType::Meta));
  CHECK(order.tensors.at("y")[0].undefined);
  CHECK_FALSE(order.tensors.at("z")[0].undefined);
  CHECK(order.tensors.at("z")[0].keys.empty());
  CHECK(order.shapes.at("xs") == std::vector<int64_t>{2, 3});
  CHECK(order.shapes.at("*").empty());
  CHECK(order.args.at("text") == "\"a=b\"");
  CHECK(order.include == DispatchKeySet(K::Tracer));
  CHECK(order.exclude == DispatchKeySet(K::AutogradCPU));
  REQUIRE(order.expect.size() == 2);
  CHECK(order.expect[1].what == OrderStep::What::Fails);
}

TEST_CASE("a flag that cannot be read is named") {
  auto refused = [](std::vector<std::string> flags, const std::string& with) {
    flags.insert(flags.end(), {"--op=demo::f", "--expect=CPU"});
    CHECK_THROWS_WITH(parse_order_case(flags), Catch::Contains(with));
  };
  refused({"op"}, "'op' is not --FLAG=VALUE");
  refused({"--op"}, "'--op' is not NAME=VALUE");
  refused({"--ops=x"}, "unknown flag '--ops'");
  refused({"--tensor=CPU"}, "'CPU' is not NAME=VALUE");
  refused({"--tensor=x=Autograd"}, "'Autograd' is neither");
  refused({"--tensor=x=Dense"}, "'Dense' is neither");
  refused({"--tensor=x=Observed"}, "'Observed' is neither");
  refused({"--shape=x=2x-1"}, "'2x-1' is not a shape");
  refused({"--expect=nothing"}, "got 'nothing'");
  CHECK_THROWS_WITH(parse_order_case({"--expect=CPU"}), Catch::Contains("--op is missing"));
  CHECK_THROWS_WITH(parse_order_case({"--op=demo::f"}), Catch::Contains("--expect is missing"));
}

}  // namespace
}  // namespace sb
