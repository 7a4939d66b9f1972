#include <vector>

#include "catch2/catch.hpp"
#include "soft_threshold.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/plugins/load_library.h"

namespace {

using sb::Device, sb::Tensor;

// Without operators, a test fills tensors itself. The toy's memory is the host's.
Tensor numbers(Device device, const std::vector<float>& values) {
  const Tensor t = sb::empty_on(device, {static_cast<int64_t>(values.size())}, sb::DType::Float32);
  std::copy(values.begin(), values.end(), static_cast<float*>(t.storage()->data()));
  return t;
}
std::vector<float> values_of(const Tensor& t) {
  const float* const data = static_cast<const float*>(t.storage()->data());
  return {data, data + t.numel()};
}

TEST_CASE("the operator shrinks numbers, and knows its result's shape without them") {
  CHECK(values_of(soft::threshold(numbers(Device("cpu"), {-2, -0.25, 0, 0.75}))) ==
        std::vector<float>{-1.5, 0, 0, 0.25});
  const Tensor shape = sb::empty_on(Device("meta"), {1 << 20, 1 << 20}, sb::DType::Float32);
  CHECK(soft::threshold(shape).sizes() == shape.sizes());
  CHECK_THROWS_WITH(soft::threshold(shape, -1),
                    "soft::threshold: argument by: expected it not "
                    "negative, got -1");
}

TEST_CASE("a device comes with a shared object, and the operator runs on it") {
  CHECK(sb::find_device_type("toy") == std::nullopt);
  sb::load_library("libtoy_device.so");
  const Device toy("toy:0");
  CHECK(sb::device_count(toy.type) == 1);
  const Tensor x = numbers(toy, {1, -3});
  const Tensor y = soft::threshold(x);
  CHECK(y.device() == toy);
  CHECK(values_of(y) == std::vector<float>{0.5, -2.5});
  CHECK_THAT(sb::to_string(sb::explain(soft::threshold.handle(), x.key_set())),
             Catch::Contains("AutogradToy") && Catch::Contains("toy_device.cc"));
}

}  // namespace
