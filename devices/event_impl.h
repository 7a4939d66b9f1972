// The interface of a device's events. Users have event.h.

#ifndef SWITCHBOARD_DEVICES_EVENT_IMPL_H_
#define SWITCHBOARD_DEVICES_EVENT_IMPL_H_

#include <cstdint>

#include "switchboard/devices/stream.h"

namespace sb {

// As `c10::EventFlag`: whether times can be measured from and to an event.
enum class EventFlag : uint8_t { Default, Timing };

// One event of a device. Its owner checks what it is called with, and calls it from one thread at a
// time; streams go on with what was recorded and blocked when the event is gone.
class EventImpl {
 public:
  virtual ~EventImpl() = default;
  // Marks the place in the stream that all its work so far comes before. Replaces an earlier mark,
  // for which streams that were blocked go on waiting.
  virtual void record(Stream stream) = 0;
  // The rest after a record(). `stream` waits for the mark before the work that it is given later.
  virtual void block(Stream stream) = 0;
  // query returns whether the mark was passed; synchronize waits until it is, then throws as
  // synchronize(Device).
  virtual bool query() const = 0;
  virtual void synchronize() const = 0;
  // Milliseconds between the passing of two marks of one device, both passed.
  virtual double elapsed_ms(const EventImpl& end) const = 0;
};

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_EVENT_IMPL_H_
