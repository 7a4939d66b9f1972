#include "switchboard/devices/stream.h"

#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/event.h"

namespace sb {
namespace {

// The guard of a stream that exists.
const DeviceGuardImpl& guard_of(Stream stream) {
  const DeviceGuardImpl& guard = get_device_guard(stream.device().type);
  SB_CHECK(resolve_device(stream.device()) == stream.device() && guard.has_stream(stream),
           "there is no ", to_string(stream));
  return guard;
}

}  // namespace

bool Stream::query() const { return guard_of(*this).query_stream(*this); }
void Stream::synchronize() const { guard_of(*this).synchronize_stream(*this); }
void Stream::wait(const Event& event) const { event.block(*this); }

std::string to_string(Stream stream) {
  return str_cat("stream ", stream.id(), " of ", to_string(stream.device()));
}
std::ostream& operator<<(std::ostream& out, Stream stream) { return out << to_string(stream); }

Stream default_stream(Device device) {
  const Device resolved = resolve_device(device);
  return get_device_guard(device.type).default_stream(resolved.index);
}
Stream current_stream(Device device) {
  const Device resolved = resolve_device(device);
  return get_device_guard(device.type).current_stream(resolved.index);
}
Stream stream_from_pool(Device device, bool high_priority) {
  const Device resolved = resolve_device(device);
  return get_device_guard(device.type).stream_from_pool(resolved.index, high_priority);
}

void set_current_stream(Stream stream) { guard_of(stream).set_current_stream(stream); }

}  // namespace sb
