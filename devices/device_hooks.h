// Hooks: one object for each device type, with what a device offers beside memory and kernels.

#ifndef SWITCHBOARD_DEVICES_DEVICE_HOOKS_H_
#define SWITCHBOARD_DEVICES_DEVICE_HOOKS_H_

#include <cstdint>
#include <map>
#include <string>

#include "switchboard/core/device.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/tensor.h"

namespace sb {

// As `at::PrivateUse1HooksInterface`, for any device type. Implementations are thread-safe and live
// as long as the process. What a device does not have throws NotImplementedError that names it.
class DeviceHooks {
 public:
  virtual ~DeviceHooks() = default;
  virtual DeviceType type() const = 0;

  // The generator that random operators take when they are given none. `index` exists.
  virtual Generator default_generator(int8_t index);
  // A generator of its own, unseeded ones with seed 0. `index` exists.
  virtual Generator new_generator(int8_t index, uint64_t seed);
  // Returns whether `data` is host memory that the device reads directly. For the device's own
  // code: programs ask sb::is_pinned, for which the device registers a kernel (pin_memory.h).
  virtual bool is_pinned(const void* /*data*/) { return false; }

  // A tensor's backend metadata, written to a file (io/safetensors/saving.h) and read back. As
  // `torch::jit::TensorBackendMetaRegistry`; the defaults write nothing, and read nothing. The
  // first is called for tensors that have some, the second with the entries, UTF-8 text, that it
  // wrote or that a hostile file says it wrote: it throws for those that make no sense.
  using MetaEntries = std::map<std::string, std::string>;
  virtual void save_backend_meta(const Tensor& /*tensor*/, MetaEntries* /*entries*/) {}
  virtual void load_backend_meta(const Tensor& /*tensor*/, const MetaEntries& /*entries*/) {}
};

// Registers the hooks of a device type, once: RuntimeError if it has others. Not owned. As
// `at::RegisterPrivateUse1HooksInterface`. CPU has its own. Thread-safe, as everything here.
void register_device_hooks(DeviceHooks* hooks);
// The hooks of a device type, or nullptr; and the same, throwing NotImplementedError that names it.
DeviceHooks* find_device_hooks(DeviceType type);
DeviceHooks& get_device_hooks(DeviceType type);

// The default generator of a device; without an index, of the current one of that type.
// NotImplementedError if the device has none, RuntimeError if there is no such device.
Generator default_generator(Device device);
// A new one with that seed.
Generator make_generator(Device device, uint64_t seed = 0);

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_DEVICE_HOOKS_H_
