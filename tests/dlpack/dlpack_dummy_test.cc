#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/memory.h"
#include "switchboard/io/dlpack/dlpack.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

constexpr Device kCpu(DeviceType::CPU);
constexpr Device kSecond(DeviceType::PrivateUse1, 1);

Tensor counting(int64_t count) { return to(to_dtype(arange(count), DType::Float32), kSecond); }

std::vector<float> elements(const Tensor& t) {
  const Tensor here = contiguous(to(t, kCpu));
  return {here.data<float>(), here.data<float>() + here.numel()};
}

AllocationStats& stats() { return get_allocator(DeviceType::PrivateUse1)->stats(); }

TEST_CASE("a private device is an extension device of its number", "[dlpack][dummy]") {
  const Tensor x = counting(6);
  DLManagedTensor* const managed = to_dlpack(x);
  CHECK(managed->dl_tensor.device.device_type == kDLExtDev);
  CHECK(managed->dl_tensor.device.device_id == 1);
  CHECK(managed->dl_tensor.data == x.data_ptr());
  managed->deleter(managed);
}

TEST_CASE("device memory comes in without a copy, and kernels of the device use it",
          "[dlpack][dummy]") {
  const Tensor x = view(counting(6), {2, 3});
  const Tensor y = from_dlpack(to_dlpack(select(x, 1, 2)));
  CHECK(y.device() == kSecond);
  CHECK(y.strides() == IntArrayRef({3}));
  CHECK(elements(y) == std::vector<float>{2, 5});
  copy_(y, add(y, y));
  CHECK(elements(x) == std::vector<float>{0, 1, 4, 3, 4, 10});
}

TEST_CASE("device memory stays until the last side lets go", "[dlpack][dummy]") {
  const int64_t before = stats().current_bytes();
  Tensor x = counting(1000);
  const int64_t with = stats().current_bytes();
  REQUIRE(with > before);
  Tensor y = from_dlpack(to_dlpack(x));
  CHECK(stats().current_bytes() == with);
  x = Tensor();
  CHECK(stats().current_bytes() == with);
  CHECK(elements(y)[999] == 999);
  y = Tensor();
  CHECK(stats().current_bytes() == before);
}

TEST_CASE("a device that is not here is refused, and the memory stays the caller's",
          "[dlpack][dummy]") {
  DLManagedTensor* const managed = to_dlpack(counting(6));
  for (int id : {2, -1, 257, 1 << 30}) {
    managed->dl_tensor.device.device_id = id;
    CHECK_THROWS_WITH(from_dlpack(managed), Contains("there is no device dummy:"));
  }
  managed->dl_tensor.device.device_id = 1;
  CHECK(elements(from_dlpack(managed)) == std::vector<float>{0, 1, 2, 3, 4, 5});
}

}  // namespace
}  // namespace sb
