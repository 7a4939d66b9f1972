// Scopes in which operators give their work to another stream.

#ifndef SWITCHBOARD_DEVICES_STREAM_GUARD_H_
#define SWITCHBOARD_DEVICES_STREAM_GUARD_H_

#include <optional>

#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/stream.h"

namespace sb {

// Makes the device of a stream current, and the stream that device's current one, for a scope on
// this thread. As `c10::StreamGuard`. Throws as set_current_stream, and then changes nothing.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream)
      : original_stream_(sb::current_stream(Device(stream.device().type))),
        replaced_(sb::current_stream(stream.device())),
        current_stream_(stream),
        device_(stream.device()) {
    set_current_stream(stream);
  }
  ~StreamGuard() { guard_->set_current_stream(replaced_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  // The current stream of the current device before the guard, and in it; likewise the devices.
  Stream original_stream() const { return original_stream_; }
  Stream current_stream() const { return current_stream_; }
  Device original_device() const { return device_.original_device(); }
  Device current_device() const { return device_.current_device(); }

 private:
  Stream original_stream_;
  Stream replaced_;  // on the stream's device, which is not always the original one
  Stream current_stream_;
  DeviceGuard device_;
  const DeviceGuardImpl* guard_ = &get_device_guard(replaced_.device().type);
};

// The same, or nothing at all. As `c10::OptionalStreamGuard`.
class OptionalStreamGuard {
 public:
  explicit OptionalStreamGuard(std::optional<Stream> stream) {
    if (stream) guard_.emplace(*stream);
  }

 private:
  std::optional<StreamGuard> guard_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_STREAM_GUARD_H_
