// How many devices there are, and which one is current.

#ifndef SWITCHBOARD_DEVICES_DUMMY_DEVICE_H_
#define SWITCHBOARD_DEVICES_DUMMY_DEVICE_H_

#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/device_hooks.h"

namespace sb::dummy {

inline constexpr int8_t kDeviceCount = 2;

// The index of this thread's current device.
int8_t current_index();

// What is registered for the device type. For streams and events see streams.h.
const DeviceGuardImpl& device_guard();
// Each device has a default generator, seeded with 0; it draws the numbers of the CPU's with the
// same seed.
DeviceHooks& device_hooks();

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_DEVICE_H_
