// The one file that says what the device is called, and hands its parts over.

#include "switchboard/core/device.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/storage.h"
#include "switchboard/devices/cpu_fallback.h"
#include "switchboard/devices/dummy/allocator.h"
#include "switchboard/devices/dummy/cpu_fallback.h"
#include "switchboard/devices/dummy/device.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"

namespace sb::dummy {
namespace {

const bool device_registered = [] {
  rename_privateuse1_backend("dummy");
  set_allocator(DeviceType::PrivateUse1, &current_device_allocator());
  set_storage_factory(DeviceType::PrivateUse1, make_device_storage);
  register_device_guard(&device_guard());
  register_device_hooks(&device_hooks());
  return true;
}();

// Every operator without a kernel of its own runs on the CPU.
SB_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(cpu_fallback); }
const ExplainFallback explain_fallback(DispatchKey::PrivateUse1,
                                       [](CallPath& path, const PathCall& call) {
                                         explain_cpu_fallback(path, call, DeviceType::PrivateUse1);
                                       });
// A tensor of the device has its autograd key, which must lead on to its kernels.
SB_LIBRARY_IMPL(_, AutogradPrivateUse1, m) { m.fallback(fallthrough); }

}  // namespace
}  // namespace sb::dummy
