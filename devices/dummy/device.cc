#include "switchboard/devices/dummy/device.h"

namespace sb::dummy {
namespace {

constinit thread_local int8_t current = 0;

class Guard final : public DeviceGuardImpl {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  int8_t device_count() const noexcept override { return kDeviceCount; }
  Device current_device() const override { return Device(type(), current); }
  void set_current(int8_t index) const noexcept override { current = index; }
};

class Hooks final : public DeviceHooks {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  Generator default_generator(int8_t index) override {
    static const Generator* const generators =
        new Generator[kDeviceCount]{new_generator(0, 0), new_generator(1, 0)};
    return generators[index];
  }
  Generator new_generator(int8_t index, uint64_t seed) override {
    return make_intrusive<GeneratorImpl>(Device(DeviceType::PrivateUse1, index), seed);
  }
};

}  // namespace

int8_t current_index() { return current; }

const DeviceGuardImpl& device_guard() {
  static const Guard& guard = *new Guard;  // never destroyed
  return guard;
}

DeviceHooks& device_hooks() {
  static Hooks& hooks = *new Hooks;
  return hooks;
}

}  // namespace sb::dummy
