// PrivateUse1 to PrivateUse3 under three names in one process.

#include <string>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/private_backends/small_device.h"

namespace sb::private_backends {
namespace {

using One = SmallDevice<DeviceType::PrivateUse1>;
using Two = SmallDevice<DeviceType::PrivateUse2>;
using Three = SmallDevice<DeviceType::PrivateUse3>;

[[maybe_unused]] const bool added = [] {
  One::get().add("one");
  Two::get().add("two");
  Three::get().add("three");
  return true;
}();

const Device kCpu("cpu");
std::vector<float> values_of(const Tensor& t) {
  const Tensor host = contiguous(to(t, kCpu));
  return {host.data<float>(), host.data<float>() + host.numel()};
}
Tensor counting(Device device) { return to(to(arange(4), DType::Float32), device); }

TEST_CASE("each backend has tensors, kernels and a current device of its own") {
  const std::string name = GENERATE("one", "two", "three");
  CAPTURE(name);
  const Device device{std::string_view(name)};
  const Tensor x = counting(device);
  CHECK(to_string(x.device()) == name + ":0");
  CHECK(values_of(add(x, x)) == std::vector<float>{0, 2, 4, 6});
  CHECK(add(x, x).device() == x.device());
  const Device second(device.type, 1);
  {
    DeviceGuard guard(second);
    CHECK(empty({2}, {}, {}, device).device() == second);
    for (const char* other : {"one", "two", "three"})
      if (other != name) CHECK(current_device(Device(std::string_view(other)).type).index == 0);
  }
  CHECK(default_generator(device).get() != default_generator(second).get());
}

TEST_CASE("the fallback that runs is the backend's own") {
  const int one = One::get().fallbacks, two = Two::get().fallbacks, three = Three::get().fallbacks;
  mm(view(counting(Device("two")), {2, 2}), view(counting(Device("two")), {2, 2}));
  CHECK(Two::get().fallbacks > two);
  CHECK(One::get().fallbacks == one);
  CHECK(Three::get().fallbacks == three);
}

TEST_CASE("tensors go from any backend to any other, in any strides") {
  const std::string from = GENERATE("one", "two", "three"), onto = GENERATE("one", "two", "three");
  CAPTURE(from, onto);
  const Tensor x = transpose(view(counting(Device(std::string_view(from))), {2, 2}), 0, 1);
  const Tensor y = to(x, Device(std::string_view(onto)));
  CHECK(to_string(y.device()) == onto + ":0");
  CHECK(values_of(y) == std::vector<float>{0, 2, 1, 3});
  const Tensor wide = zeros({4, 2}, {}, {}, Device(std::string_view(onto)));
  copy_(slice(wide, 0, 0, 4, 2), x);
  CHECK(values_of(wide) == std::vector<float>{0, 2, 0, 0, 1, 3, 0, 0});
}

TEST_CASE("errors call the backends by their names") {
  const Tensor x = counting(Device("one")), y = counting(Device("three"));
  CHECK_THROWS_WITH(add(x, y), Catch::Contains("aten::add.Tensor") && Catch::Contains("one:0") &&
                                   Catch::Contains("three:0"));
  CHECK_THROWS_WITH(Device("two:x"), "device 'two:x': index 'x' is not a number");
  CHECK_THROWS_WITH(resolve_device(Device("two:7")), Catch::Contains("two:7"));
}

TEST_CASE("keys of a backend are found by its name, and print it") {
  CHECK(find_dispatch_key("three") == DispatchKey::PrivateUse3);
  CHECK(find_dispatch_key("AutogradTwo") == DispatchKey::AutogradPrivateUse2);
  CHECK(to_string(DispatchKey::AutogradPrivateUse2) == "AutogradTwo");
}

TEST_CASE("errors and tables call keys by the backends' names") {
  Library m(Library::Kind::Def, "private_test");
  m.define("lonely(Tensor x) -> Tensor");
  m.impl("lonely", DispatchKey::PrivateUse1, [](const Tensor& x) { return x; });
  const OperatorHandle op = default_dispatcher().find_op_or_throw("private_test::lonely");
  std::string keys;
  for (const TableRow& row : computed_table(op)) keys += std::string(to_string(row.key)) + "; ";
  CHECK_THAT(keys, Catch::Contains("; one; ") && Catch::Contains("; AutogradTwo; ") &&
                       Catch::Contains("; AutogradThree; ") && !Catch::Contains("PrivateUse"));
  const std::string explained = to_string(explain(op, counting(Device("two")).key_set()));
  CHECK_THAT(explained, Catch::Contains("AutogradTwo") && !Catch::Contains("PrivateUse"));
}

}  // namespace
}  // namespace sb::private_backends
