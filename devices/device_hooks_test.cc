#include "switchboard/devices/device_hooks.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"

namespace sb {
namespace {

class NoHooks final : public DeviceHooks {
 public:
  DeviceType type() const override { return DeviceType::Meta; }
};

TEST_CASE("the default generator of the CPU is the process's", "[devices][hooks]") {
  CHECK(default_generator(DeviceType::CPU) == default_cpu_generator());
}

TEST_CASE("a generator is made with its seed", "[devices][hooks]") {
  const Generator a = make_generator(DeviceType::CPU, 5);
  const Generator b = make_generator(DeviceType::CPU, 5);
  CHECK(a->seed() == 5);
  CHECK(a->next() == b->next());
}

TEST_CASE("a device type without hooks says so", "[devices][hooks]") {
  CHECK(find_device_hooks(DeviceType::VE) == nullptr);
  CHECK_THROWS_AS(default_generator(DeviceType::VE), NotImplementedError);
  CHECK_THROWS_WITH(get_device_hooks(DeviceType::VE), Catch::Contains("ve"));
}

TEST_CASE("a device type has one object of hooks, and what it lacks says so", "[devices][hooks]") {
  static NoHooks hooks;
  static NoHooks again;
  register_device_hooks(&hooks);
  CHECK_THROWS_AS(register_device_hooks(&again), RuntimeError);
  CHECK_THROWS_AS(register_device_hooks(nullptr), ValueError);
  CHECK(find_device_hooks(DeviceType::Meta) == &hooks);
  CHECK_THROWS_AS(default_generator(DeviceType::Meta), NotImplementedError);
  CHECK_THROWS_WITH(make_generator(DeviceType::Meta, 1), Catch::Contains("meta"));
  CHECK_FALSE(hooks.is_pinned(&hooks));
}

}  // namespace
}  // namespace sb
