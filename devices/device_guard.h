// The current device of each device type, and scopes that change it.

#ifndef SWITCHBOARD_DEVICES_DEVICE_GUARD_H_
#define SWITCHBOARD_DEVICES_DEVICE_GUARD_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "switchboard/core/device.h"
#include "switchboard/devices/event_impl.h"
#include "switchboard/devices/stream.h"

namespace sb {

// A device type's answers about its devices, streams and events. As
// `c10::impl::DeviceGuardImplInterface`. Implementations are thread-safe, live as long as the
// process, and keep a current device for each thread, and a current stream for each device of it.
// Unless said otherwise a device has one stream, whose work is done when its operator returns.
class DeviceGuardImpl {
 public:
  virtual ~DeviceGuardImpl() = default;
  virtual DeviceType type() const = 0;
  virtual int8_t device_count() const noexcept = 0;
  // Of this thread. Index -1 where devices have no numbers, as on the CPU.
  virtual Device current_device() const = 0;
  // `index` is below device_count(); callers check.
  virtual void set_current(int8_t index) const noexcept = 0;
  // Waits for all work that was given to a device, and throws the error of work that failed.
  virtual void synchronize(int8_t /*index*/) const {}

  // Indices and streams exist, in all that follows; callers check.
  virtual bool has_stream(Stream stream) const { return stream.id() == 0; }
  virtual Stream default_stream(int8_t index) const { return Stream(Device(type(), index), 0); }
  // Of this thread.
  virtual Stream current_stream(int8_t index) const { return default_stream(index); }
  virtual void set_current_stream(Stream /*stream*/) const noexcept {}
  // These throw NotImplementedError where a device has no others, or no events.
  virtual Stream stream_from_pool(int8_t index, bool high_priority) const;
  virtual std::unique_ptr<EventImpl> make_event(EventFlag flag) const;
  // query_stream returns whether all work of a stream is done; synchronize_stream waits until it
  // is, then throws as synchronize.
  virtual bool query_stream(Stream /*stream*/) const { return true; }
  virtual void synchronize_stream(Stream /*stream*/) const {}
};

// For device types with one device that is always current. As `c10::impl::NoOpDeviceGuardImpl`.
class NoOpDeviceGuardImpl final : public DeviceGuardImpl {
 public:
  explicit constexpr NoOpDeviceGuardImpl(DeviceType type) : type_(type) {}
  DeviceType type() const override { return type_; }
  int8_t device_count() const noexcept override { return 1; }
  Device current_device() const override { return Device(type_); }
  void set_current(int8_t) const noexcept override {}

 private:
  DeviceType type_;
};

// Registers the guard of a device type, once: RuntimeError if it has another. Not owned. As
// `C10_REGISTER_GUARD_IMPL`. CPU and Meta have theirs. Thread-safe, as everything here.
void register_device_guard(const DeviceGuardImpl* guard);
// The guard of a device type, or nullptr; and the same, throwing NotImplementedError that names it.
const DeviceGuardImpl* find_device_guard(DeviceType type);
const DeviceGuardImpl& get_device_guard(DeviceType type);

// `device` with the current index of its type in place of a missing one. Throws RuntimeError,
// naming how many devices there are, for an index that does not exist; NotImplementedError, here
// and below but for device_count, for a type without a guard.
Device resolve_device(Device device);
// The current device of a type, and how many it has (0 without a guard).
Device current_device(DeviceType type);
int8_t device_count(DeviceType type);
// Makes a device current on this thread; one without an index changes nothing. RuntimeError as
// resolve_device.
void set_current_device(Device device);
// Waits for all work that was given to `device`, by any thread to any stream, and throws the error
// of work that failed.
void synchronize(Device device);

// Makes a device current for a scope. As `c10::DeviceGuard`: a device without an index leaves the
// current one. Throws as resolve_device, and then changes nothing.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard() {
    if (original_.has_index()) guard_->set_current(original_.index);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  // The current device before the guard and in it.
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  const DeviceGuardImpl* guard_;
  Device original_;
  Device current_;
};

// The same, or nothing at all. As `c10::OptionalDeviceGuard`.
class OptionalDeviceGuard {
 public:
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_DEVICE_GUARD_H_
