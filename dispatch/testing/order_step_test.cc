#include "switchboard/dispatch/testing/order_step.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb {
namespace {

using K = DispatchKey;
using What = OrderStep::What;

// What ran, as an observer of demo::f would have it.
OrderStep ran(K key, std::string place, std::string from = "key", std::string op = "demo::f") {
  return {What::Runs, std::move(op), key, std::move(place), std::move(from)};
}

bool fits(std::string_view expected, const OrderStep& actual) {
  return matches(parse_order_step(expected), actual, "demo::f");
}

TEST_CASE("a key alone expects any kernel of the operator that runs for it") {
  CHECK(fits("CPU", ran(K::CPU, "ops/add.cc:31")));
  CHECK(fits("CPU", ran(K::CPU, "ops/add.cc:31", "Autograd")));
  CHECK_FALSE(fits("CPU", ran(K::CUDA, "ops/add.cc:31")));
  CHECK_FALSE(fits("CPU", ran(K::CPU, "ops/add.cc:31", "key", "demo::g")));
}

TEST_CASE("a place is a file's name, with folders and line if one likes") {
  const OrderStep actual = ran(K::CPU, "external/switchboard/ops/add.cc:31");
  for (const char* right : {"CPU add.cc", "CPU ops/add.cc", "CPU ops/add.cc:31", "CPU add.cc:31"})
    CHECK(fits(right, actual));
  for (const char* wrong :
       {"CPU dd.cc", "CPU ops/mul.cc", "CPU ops/add.cc:3", "CPU ops/add.cc:1", "CPU s/add.cc"})
    CHECK_FALSE(fits(wrong, actual));
}

TEST_CASE("'from' says by which registration the kernel came into the slot") {
  CHECK(fits("CPU from Autograd", ran(K::CPU, "a.cc:1", "Autograd")));
  CHECK(fits("CPU a.cc from fallback", ran(K::CPU, "a.cc:1", "fallback")));
  CHECK(fits("CPU from key a.cc", ran(K::CPU, "a.cc:1", "key")));
  CHECK_FALSE(fits("CPU from key", ran(K::CPU, "a.cc:1", "Autograd")));
  CHECK_FALSE(fits("CPU from fallback", ran(K::CPU, "a.cc:1", "key")));
}

TEST_CASE("another operator is named") {
  CHECK(fits("demo::g.out CPU", ran(K::CPU, "a.cc:1", "key", "demo::g.out")));
  CHECK(fits("demo::f CPU", ran(K::CPU, "a.cc:1")));
  CHECK_FALSE(fits("demo::g CPU", ran(K::CPU, "a.cc:1")));
}

TEST_CASE("keys that are passed over and calls that fail are not kernels that run") {
  const OrderStep passed{What::FallsThrough, "demo::f", K::CPU, "", ""};
  CHECK(fits("CPU falls through", passed));
  CHECK_FALSE(fits("CPU", passed));
  CHECK_FALSE(fits("CPU excluded", passed));
  CHECK(fits("CPU fails", {What::Fails, "demo::f", K::CPU, "", ""}));
  CHECK(fits("throws", {What::Throws, "", K::Undefined, "", ""}));
  CHECK_FALSE(fits("throws", {What::Fails, "demo::f", K::CPU, "", ""}));
}

TEST_CASE("a step prints as it is expected") {
  for (const char* text :
       {"CPU", "CPU ops/add.cc:31", "AutogradCPU from Autograd", "demo::g CPU a.cc:1 from fallback",
        "AutogradCPU falls through", "AutocastCPU excluded", "Meta fails", "throws", "Undefined"})
    CHECK(to_string(parse_order_step(text), "demo::f") == text);
  CHECK(to_string(ran(K::CPU, "a.cc:1"), "demo::f") == "CPU a.cc:1");
}

TEST_CASE("what is no expectation is refused, with the words that are wrong") {
  CHECK_THROWS_WITH(parse_order_step(""), Catch::Contains("expected a dispatch key"));
  CHECK_THROWS_WITH(parse_order_step("demo::f"), Catch::Contains("expected a dispatch key"));
  CHECK_THROWS_WITH(parse_order_step("Cpu"), Catch::Contains("got 'Cpu'"));
  CHECK_THROWS_WITH(parse_order_step("Autograd"), Catch::Contains("got 'Autograd'"));
  CHECK_THROWS_WITH(parse_order_step("CPU from CPU"), Catch::Contains("after 'from'"));
  CHECK_THROWS_WITH(parse_order_step("CPU from"), Catch::Contains("'from' is neither"));
  CHECK_THROWS_WITH(parse_order_step("CPU falls"), Catch::Contains("'falls' is neither"));
  CHECK_THROWS_AS(parse_order_step("CPU a.cc b.cc"), ValueError);
}

}  // namespace
}  // namespace sb
