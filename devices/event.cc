#include "switchboard/devices/event.h"

#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"

namespace sb {
namespace {

// The guard of a stream that exists and is of that type.
const DeviceGuardImpl& checked_guard(const char* function, DeviceType type, Stream stream) {
  SB_CHECK(stream.device().type == type, function, ": expected a stream of ", to_string(type),
           ", got ", to_string(stream));
  const DeviceGuardImpl& guard = get_device_guard(type);
  SB_CHECK(resolve_device(stream.device()) == stream.device() && guard.has_stream(stream), function,
           ": there is no ", to_string(stream));
  return guard;
}

}  // namespace

void Event::record(Stream stream) {
  const DeviceGuardImpl& guard = checked_guard("Event::record", device_.type, stream);
  if (impl_) {
    impl_->record(stream);
  } else {
    std::unique_ptr<EventImpl> impl = guard.make_event(flag_);
    impl->record(stream);
    impl_ = std::move(impl);
  }
  device_ = stream.device();
}

void Event::block(Stream stream) const {
  if (!impl_) return;
  checked_guard("Event::block", device_.type, stream);
  impl_->block(stream);
}

double Event::elapsed_ms(const Event& end) const {
  for (const Event* event : {this, &end}) {
    SB_CHECK(event->was_recorded(), "Event::elapsed_ms: the ", event == this ? "first" : "last",
             " event was not recorded");
    SB_CHECK(event->flag_ == EventFlag::Timing, "Event::elapsed_ms: the ",
             event == this ? "first" : "last", " event was made without EventFlag::Timing");
    SB_CHECK(event->query(), "Event::elapsed_ms: the ", event == this ? "first" : "last",
             " event is not done");
  }
  SB_CHECK(device_ == end.device_, "Event::elapsed_ms: the events are of ", to_string(device_),
           " and ", to_string(end.device_));
  return impl_->elapsed_ms(*end.impl_);
}

}  // namespace sb
