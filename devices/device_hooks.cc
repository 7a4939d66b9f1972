#include "switchboard/devices/device_hooks.h"

#include <atomic>

#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"

namespace sb {
namespace {

class CpuHooks final : public DeviceHooks {
 public:
  constexpr CpuHooks() = default;
  DeviceType type() const override { return DeviceType::CPU; }
  Generator default_generator(int8_t) override { return default_cpu_generator(); }
  Generator new_generator(int8_t, uint64_t seed) override { return make_cpu_generator(seed); }
};

// Never destroyed: a device may be asked for its generator by a static destructor.
union Immortal {
  CpuHooks value;
  constexpr Immortal() : value() {}
  ~Immortal() {}
};
constinit Immortal cpu_hooks;

// Indexed by device type, the CPU first. Complete before the first static initialiser.
static_assert(static_cast<int>(DeviceType::CPU) == 0);
constinit std::atomic<DeviceHooks*> hooks_registry[kNumDeviceTypes] = {&cpu_hooks.value};

}  // namespace

Generator DeviceHooks::default_generator(int8_t) {
  SB_THROW(NotImplementedError, to_string(type()), ": the device has no default generator");
}

Generator DeviceHooks::new_generator(int8_t, uint64_t) {
  SB_THROW(NotImplementedError, to_string(type()), ": the device makes no generators");
}

void register_device_hooks(DeviceHooks* hooks) {
  SB_CHECK_VALUE(hooks, "register_device_hooks: got no hooks");
  const size_t i = static_cast<size_t>(hooks->type());
  SB_CHECK_VALUE(i < kNumDeviceTypes, "register_device_hooks: unknown device type ", i);
  DeviceHooks* before = nullptr;
  SB_CHECK(hooks_registry[i].compare_exchange_strong(before, hooks),
           "register_device_hooks: ", to_string(hooks->type()), " already has device hooks");
}

DeviceHooks* find_device_hooks(DeviceType type) {
  const size_t i = static_cast<size_t>(type);
  return i < kNumDeviceTypes ? hooks_registry[i].load(std::memory_order_acquire) : nullptr;
}

DeviceHooks& get_device_hooks(DeviceType type) {
  DeviceHooks* hooks = find_device_hooks(type);
  SB_CHECK_NOT_IMPLEMENTED(hooks, to_string(type), ": no device hooks are registered");
  return *hooks;
}

Generator default_generator(Device device) {
  DeviceHooks& hooks = get_device_hooks(device.type);
  return hooks.default_generator(resolve_device(device).index);
}

Generator make_generator(Device device, uint64_t seed) {
  DeviceHooks& hooks = get_device_hooks(device.type);
  return hooks.new_generator(resolve_device(device).index, seed);
}

}  // namespace sb
