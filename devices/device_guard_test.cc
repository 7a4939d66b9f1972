#include "switchboard/devices/device_guard.h"

#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb {
namespace {

// Three devices under PrivateUse2.
class ThreeDevices final : public DeviceGuardImpl {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse2; }
  int8_t device_count() const noexcept override { return 3; }
  Device current_device() const override { return Device(type(), current); }
  void set_current(int8_t index) const noexcept override { current = index; }
  void synchronize(int8_t index) const override { synchronized = index; }

  static inline thread_local int8_t current = 0;
  static inline int8_t synchronized = -1;
};

constexpr DeviceType kType = DeviceType::PrivateUse2;
const ThreeDevices three_devices;
const bool registered = (register_device_guard(&three_devices), true);

TEST_CASE("a device guard changes the current device for a scope", "[devices][guard]") {
  {
    DeviceGuard outer(Device(kType, 1));
    CHECK(current_device(kType) == Device(kType, 1));
    CHECK(outer.original_device() == Device(kType, 0));
    CHECK(outer.current_device() == Device(kType, 1));
    {
      DeviceGuard inner(Device(kType, 2));
      CHECK(current_device(kType) == Device(kType, 2));
    }
    CHECK(current_device(kType) == Device(kType, 1));
  }
  CHECK(current_device(kType) == Device(kType, 0));
}

TEST_CASE("a device guard restores the device when the scope ends by an error",
          "[devices][guard]") {
  try {
    DeviceGuard guard(Device(kType, 2));
    throw 1;
  } catch (int) {
  }
  CHECK(current_device(kType).index == 0);
}

TEST_CASE("what a scope sets without a guard ends with the scope too", "[devices][guard]") {
  {
    DeviceGuard guard{Device(kType)};
    CHECK(guard.current_device() == Device(kType, 0));
    set_current_device(Device(kType, 2));
  }
  CHECK(current_device(kType).index == 0);
}

TEST_CASE("an index that does not exist is refused and nothing changes", "[devices][guard]") {
  const Device bad(kType, 3);
  CHECK_THROWS_WITH(DeviceGuard(bad),
                    Catch::Contains("privateusetwo:3") && Catch::Contains("has 3"));
  CHECK_THROWS_AS(set_current_device(bad), RuntimeError);
  CHECK_THROWS_AS(resolve_device(bad), RuntimeError);
  CHECK_THROWS_AS(synchronize(bad), RuntimeError);
  CHECK(current_device(kType).index == 0);
  CHECK_THROWS_AS(resolve_device(Device(DeviceType::CPU, 1)), RuntimeError);
}

TEST_CASE("a device without an index is the current one", "[devices][guard]") {
  DeviceGuard guard(Device(kType, 2));
  CHECK(resolve_device(kType) == Device(kType, 2));
  CHECK(resolve_device(Device(kType, 1)) == Device(kType, 1));
  synchronize(kType);
  CHECK(ThreeDevices::synchronized == 2);
}

TEST_CASE("each thread has a current device of its own", "[devices][guard]") {
  DeviceGuard guard(Device(kType, 1));
  int8_t seen = -1;
  std::thread([&] { seen = current_device(kType).index; }).join();
  CHECK(seen == 0);
}

TEST_CASE("the CPU and meta have one device without a number", "[devices][guard]") {
  for (DeviceType type : {DeviceType::CPU, DeviceType::Meta}) {
    CHECK(device_count(type) == 1);
    CHECK(current_device(type) == Device(type));
    DeviceGuard guard(Device(type, 0));
    CHECK(guard.current_device() == Device(type, 0));
    synchronize(type);
  }
}

TEST_CASE("a device type without a guard says so", "[devices][guard]") {
  CHECK(find_device_guard(DeviceType::VE) == nullptr);
  CHECK(device_count(DeviceType::VE) == 0);
  CHECK_THROWS_AS(get_device_guard(DeviceType::VE), NotImplementedError);
  CHECK_THROWS_WITH(DeviceGuard(Device(DeviceType::VE)), Catch::Contains("ve"));
}

TEST_CASE("a device type has one guard", "[devices][guard]") {
  static const ThreeDevices other;
  CHECK_NOTHROW(register_device_guard(&three_devices));
  CHECK_THROWS_AS(register_device_guard(&other), RuntimeError);
  CHECK_THROWS_AS(register_device_guard(nullptr), ValueError);
  CHECK(find_device_guard(kType) == &three_devices);
}

TEST_CASE("an optional device guard may guard nothing", "[devices][guard]") {
  {
    OptionalDeviceGuard none(std::nullopt);
    CHECK(current_device(kType).index == 0);
    OptionalDeviceGuard one(Device(kType, 1));
    CHECK(current_device(kType).index == 1);
  }
  CHECK(current_device(kType).index == 0);
}

}  // namespace
}  // namespace sb
