#include "switchboard/devices/device_guard.h"

#include <atomic>
#include <utility>

#include "switchboard/core/error.h"

namespace sb {
namespace {

// Never destroyed: guards may be used after static destruction.
union NoOpGuard {
  NoOpDeviceGuardImpl value;
  constexpr explicit NoOpGuard(DeviceType type) : value(type) {}
  ~NoOpGuard() {}
};
constinit NoOpGuard cpu_guard{DeviceType::CPU};
constinit NoOpGuard meta_guard{DeviceType::Meta};

constexpr const DeviceGuardImpl* first_guard(size_t type) {
  if (type == static_cast<size_t>(DeviceType::CPU)) return &cpu_guard.value;
  if (type == static_cast<size_t>(DeviceType::Meta)) return &meta_guard.value;
  return nullptr;
}

// Indexed by device type. Complete before the first static initialiser: devices register in theirs.
struct GuardRegistry {
  template <size_t... types>
  constexpr explicit GuardRegistry(std::index_sequence<types...>) : slots{first_guard(types)...} {}

  std::atomic<const DeviceGuardImpl*> slots[kNumDeviceTypes];
};
constinit GuardRegistry guard_registry{std::make_index_sequence<kNumDeviceTypes>()};

}  // namespace

Stream DeviceGuardImpl::stream_from_pool(int8_t, bool) const {
  SB_THROW(NotImplementedError, to_string(type()), ": the device has no pool of streams");
}

std::unique_ptr<EventImpl> DeviceGuardImpl::make_event(EventFlag) const {
  SB_THROW(NotImplementedError, to_string(type()), ": the device has no events");
}

void register_device_guard(const DeviceGuardImpl* guard) {
  SB_CHECK_VALUE(guard, "register_device_guard: got no guard");
  const size_t i = static_cast<size_t>(guard->type());
  SB_CHECK_VALUE(i < kNumDeviceTypes, "register_device_guard: unknown device type ", i);
  const DeviceGuardImpl* before = nullptr;
  SB_CHECK(guard_registry.slots[i].compare_exchange_strong(before, guard) || before == guard,
           "register_device_guard: ", to_string(guard->type()), " already has a device guard");
}

const DeviceGuardImpl* find_device_guard(DeviceType type) {
  const size_t i = static_cast<size_t>(type);
  return i < kNumDeviceTypes ? guard_registry.slots[i].load(std::memory_order_acquire) : nullptr;
}

const DeviceGuardImpl& get_device_guard(DeviceType type) {
  const DeviceGuardImpl* guard = find_device_guard(type);
  SB_CHECK_NOT_IMPLEMENTED(guard, to_string(type), ": no device guard is registered");
  return *guard;
}

Device resolve_device(Device device) {
  const DeviceGuardImpl& guard = get_device_guard(device.type);
  if (!device.has_index()) return guard.current_device();
  SB_CHECK(device.index < guard.device_count(), to_string(device), ": no such device; ",
           to_string(device.type), " has ", static_cast<int>(guard.device_count()));
  return device;
}

Device current_device(DeviceType type) { return get_device_guard(type).current_device(); }

int8_t device_count(DeviceType type) {
  const DeviceGuardImpl* guard = find_device_guard(type);
  return guard ? guard->device_count() : 0;
}

void set_current_device(Device device) {
  const Device resolved = resolve_device(device);
  if (device.has_index()) get_device_guard(device.type).set_current(resolved.index);
}

void synchronize(Device device) {
  get_device_guard(device.type).synchronize(resolve_device(device).index);
}

DeviceGuard::DeviceGuard(Device device)
    : guard_(&get_device_guard(device.type)),
      original_(guard_->current_device()),
      current_(resolve_device(device)) {
  if (device.has_index() && original_.has_index()) guard_->set_current(current_.index);
}

}  // namespace sb
