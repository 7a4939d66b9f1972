// Marks in the work of a stream, for other streams and for the host to wait for.

#ifndef SWITCHBOARD_DEVICES_EVENT_H_
#define SWITCHBOARD_DEVICES_EVENT_H_

#include <memory>

#include "switchboard/devices/event_impl.h"
#include "switchboard/devices/stream.h"

namespace sb {

// As `c10::Event`. May be recorded again; who waits for it waits for what was recorded last by
// then. An event that was never recorded is done: waiting for it does nothing, and checks nothing.
// Not thread-safe; may be moved, not copied. Streams that wait for it go on waiting when it is
// gone.
//
//   Event ready(x.device().type);
//   ready.record(current_stream(x.device()));  // after the work on x so far
//   other_stream.wait(ready);                  // which other_stream can now use
class Event {
 public:
  explicit Event(DeviceType type, EventFlag flag = EventFlag::Default)
      : device_(type), flag_(flag) {}

  // Without an index until it is recorded; then that of the stream.
  Device device() const { return device_; }
  EventFlag flag() const { return flag_; }
  bool was_recorded() const { return impl_ != nullptr; }

  // RuntimeError, here and below, for a stream of another device type or one that does not exist;
  // NotImplementedError where the device has no events.
  void record(Stream stream);
  void record_once(Stream stream) {
    if (!was_recorded()) record(stream);
  }
  // The stream waits for the event before the work that it is given from now on; it may be of
  // another device of the type.
  void block(Stream stream) const;
  // Returns whether the work before the event is done.
  bool query() const { return !impl_ || impl_->query(); }
  // Waits until it is, and throws the error of work that failed.
  void synchronize() const {
    if (impl_) impl_->synchronize();
  }
  // The time from this event to `end`. RuntimeError unless both have EventFlag::Timing, were
  // recorded on one device, and are done.
  double elapsed_ms(const Event& end) const;

 private:
  Device device_;
  EventFlag flag_;
  std::unique_ptr<EventImpl> impl_;  // null until it is recorded
};

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_EVENT_H_
