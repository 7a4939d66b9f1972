#include "switchboard/devices/pin_memory.h"

#include <mutex>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/devices/dummy/streams.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb::dummy {
namespace {

using Floats = std::vector<float>;
const Device kCpu{DeviceType::CPU};

TEST_CASE("a pinned tensor is a copy on the CPU that the device knows by its address",
          "[dummy][pinned]") {
  const Tensor x = tensor_of<float>(kCpu, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK_FALSE(sb::is_pinned(x));
  const Tensor pinned = pin_memory(x);
  CHECK(pinned.device() == kCpu);
  CHECK_FALSE(pinned.is_alias_of(x));
  CHECK(storage_of<float>(pinned) == Floats{1, 2, 3, 4, 5, 6});
  for (const std::optional<Device> device : {std::optional<Device>(), std::optional(kFirst)}) {
    CHECK(sb::is_pinned(pinned, device));
    CHECK(sb::is_pinned(select(pinned, 0, 1), device));  // by any address within
    CHECK_FALSE(sb::is_pinned(x, device));
  }
  CHECK_FALSE(sb::is_pinned(pinned, kCpu));
  CHECK(pin_memory(pinned).is_same(pinned));
  CHECK_FALSE(_pin_memory(pinned).is_same(pinned));
}

TEST_CASE("pinned memory is the CPU's again when its tensor is gone", "[dummy][pinned]") {
  const int64_t before = get_allocator(DeviceType::CPU)->stats().current_bytes();
  const void* address = nullptr;
  {
    const Tensor pinned = pin_memory(tensor_of<float>(kCpu, {100}, Floats(100, 1)));
    address = pinned.data_ptr();
    CHECK(find_device_hooks(DeviceType::PrivateUse1)->is_pinned(address));
    resize_(pinned, IntArrayRef{1000});
    CHECK(sb::is_pinned(pinned));
  }
  CHECK_FALSE(find_device_hooks(DeviceType::PrivateUse1)->is_pinned(address));
  CHECK(get_allocator(DeviceType::CPU)->stats().current_bytes() == before);
}

TEST_CASE("a pinned copy keeps dense strides, and an empty tensor is never pinned",
          "[dummy][pinned]") {
  const Tensor x = t(tensor_of<float>(kCpu, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const Tensor pinned = pin_memory(x);
  CHECK(pinned.strides() == IntArrayRef{1, 3});
  CHECK(storage_of<float>(pinned) == Floats{1, 2, 3, 4, 5, 6});
  CHECK_FALSE(sb::is_pinned(pin_memory(tensor_of<float>(kCpu, {0}, {}))));
}

TEST_CASE("only dense tensors of the CPU can be pinned", "[dummy][pinned]") {
  const Tensor there = tensor_of<float>(kFirst, {1}, {1});
  CHECK_FALSE(sb::is_pinned(there));
  CHECK_THROWS_WITH(pin_memory(there),
                    Catch::Contains("only dense tensors of the CPU") && Catch::Contains("dummy:0"));
  const Tensor x = tensor_of<float>(kCpu, {1}, {1});
  CHECK_THROWS_AS(pin_memory(x, kCpu), NotImplementedError);
  CHECK_THROWS_AS(pin_memory(x, Device(DeviceType::CUDA)), NotImplementedError);
  CHECK_THROWS_AS(pin_memory(Tensor()), RuntimeError);
}

TEST_CASE("a copy between pinned memory and the device may be waited for later",
          "[dummy][pinned]") {
  AsynchronousLaunches launches;
  std::mutex mutex;
  const Tensor there = tensor_of<float>(kFirst, {2}, {1, 2});
  const Tensor back = pin_memory(zeros(IntArrayRef{2}));
  {
    std::lock_guard<std::mutex> gate(mutex);
    run_on_stream(default_stream(kFirst), "test::wait",
                  [&] { std::lock_guard<std::mutex> pass(mutex); });
    copy_(back, there, /*non_blocking=*/true);
    // A source that is freed before its copy runs.
    copy_(there, pin_memory(tensor_of<float>(kCpu, {2}, {7, 8})), /*non_blocking=*/true);
    CHECK(storage_of<float>(back) == Floats{0, 0});
  }
  synchronize(kFirst);
  CHECK(storage_of<float>(back) == Floats{1, 2});
  CHECK(storage_of<float>(there) == Floats{7, 8});
}

}  // namespace
}  // namespace sb::dummy
