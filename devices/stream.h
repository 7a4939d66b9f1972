// Streams: queues of work on a device. The work of one stream runs in the order in which it was
// given; that of different streams may run at the same time, in any order that events do not fix.

#ifndef SWITCHBOARD_DEVICES_STREAM_H_
#define SWITCHBOARD_DEVICES_STREAM_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "switchboard/core/device.h"

namespace sb {

class Event;

// 0 is the default stream of a device; others mean what the device says.
using StreamId = int64_t;

// The name of a stream, as `c10::Stream`: cheap to copy, owns nothing.
class Stream {
 public:
  // For devices, which know what their streams are called. Everybody else gets streams from the
  // functions below; one that does not exist is refused where it is used.
  constexpr Stream(Device device, StreamId id) : device_(device), id_(id) {}

  // With its index, on devices that have indices.
  constexpr Device device() const { return device_; }
  constexpr StreamId id() const { return id_; }
  constexpr bool operator==(const Stream&) const = default;

  // Returns whether all work that it was given is done. RuntimeError, here and below, for a stream
  // that does not exist.
  bool query() const;
  // Waits until it is. Throws the error of work that failed (see Device errors below).
  void synchronize() const;
  // Work that is given from now on waits for what the event has recorded. As Event::block.
  void wait(const Event& event) const;

  template <class H>
  friend H AbslHashValue(H h, const Stream& s) {
    return H::combine(std::move(h), s.device_, s.id_);
  }

 private:
  Device device_;
  StreamId id_;
};

// Device errors: work that fails after its operator returned throws a RuntimeError from the next
// synchronisation with its device, of a stream, an event or all of it; once. Of several that nobody
// was told of, a device may keep only the first.
//
// Memory: there is no record_stream. A device keeps what queued work uses until it has run.
//
// Thread-safe, as everything here. NotImplementedError for a device type without a device guard.

// "stream 2 of cuda:0".
std::string to_string(Stream stream);
std::ostream& operator<<(std::ostream& out, Stream stream);

// The default stream of a device; this thread's current one, to which operators give their work;
// and one of the device's pool, whose streams are given to everybody in turn. A device without an
// index is the current one. RuntimeError for one that does not exist, NotImplementedError where
// there is no pool. Devices may make nothing of the priority.
Stream default_stream(Device device);
Stream current_stream(Device device);
Stream stream_from_pool(Device device, bool high_priority = false);

// Makes a stream the current one of its device on this thread; the current device stays.
// RuntimeError if it does not exist.
void set_current_stream(Stream stream);

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_STREAM_H_
