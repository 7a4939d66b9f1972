#include "switchboard/devices/stream.h"

#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/event.h"
#include "switchboard/devices/stream_guard.h"

namespace sb {
namespace {

constexpr DeviceType kType = DeviceType::PrivateUse3;
const Device kFirst(kType, 0), kSecond(kType, 1);

// What the two devices below were asked for.
std::vector<std::string> asked;

// Done when `pending` is false.
class RecordedEvent final : public EventImpl {
 public:
  void record(Stream stream) override { asked.push_back("record in " + to_string(stream)); }
  void block(Stream stream) override { asked.push_back("block " + to_string(stream)); }
  bool query() const override { return !pending; }
  void synchronize() const override { asked.push_back("synchronize event"); }
  double elapsed_ms(const EventImpl&) const override { return 1.5; }

  static inline bool pending = false;
};

class TwoDevices final : public DeviceGuardImpl {
 public:
  DeviceType type() const override { return kType; }
  int8_t device_count() const noexcept override { return 2; }
  Device current_device() const override { return Device(kType, device); }
  void set_current(int8_t index) const noexcept override { device = index; }
  bool has_stream(Stream stream) const override { return stream.id() >= 0 && stream.id() < 3; }
  Stream current_stream(int8_t index) const override {
    return Stream(Device(kType, index), streams[index]);
  }
  void set_current_stream(Stream stream) const noexcept override {
    streams[stream.device().index] = stream.id();
  }
  Stream stream_from_pool(int8_t index, bool high_priority) const override {
    return Stream(Device(kType, index), high_priority ? 2 : 1);
  }
  std::unique_ptr<EventImpl> make_event(EventFlag) const override {
    return std::make_unique<RecordedEvent>();
  }
  bool query_stream(Stream) const override { return false; }
  void synchronize_stream(Stream stream) const override {
    asked.push_back("synchronize " + to_string(stream));
  }

  static inline thread_local int8_t device = 0;
  static inline thread_local StreamId streams[2] = {};
};
const TwoDevices two_devices;
const bool registered = (register_device_guard(&two_devices), true);

TEST_CASE("a stream is the name of a device's queue", "[devices][stream]") {
  asked.clear();
  const Stream stream = stream_from_pool(kSecond);
  CHECK(stream == Stream(kSecond, 1));
  CHECK(stream != Stream(kFirst, 1));
  CHECK(stream_from_pool(kSecond, true) == Stream(kSecond, 2));
  CHECK(to_string(stream) == "stream 1 of privateusethree:1");
  CHECK_FALSE(stream.query());
  stream.synchronize();
  CHECK(asked == std::vector<std::string>{"synchronize stream 1 of privateusethree:1"});
}

TEST_CASE("each device of a thread has a current stream, the default one at first",
          "[devices][stream]") {
  CHECK(current_stream(kFirst) == default_stream(kFirst));
  set_current_stream(Stream(kSecond, 2));
  CHECK(current_stream(kSecond).id() == 2);
  CHECK(current_stream(kFirst).id() == 0);
  CHECK(current_stream(kType) == current_stream(kFirst));  // of the current device
  CHECK(current_device(kType) == kFirst);
  set_current_stream(default_stream(kSecond));
}

TEST_CASE("a stream guard sets the device and its stream for a scope", "[devices][stream]") {
  set_current_stream(Stream(kSecond, 2));
  {
    StreamGuard guard(Stream(kSecond, 1));
    CHECK(current_device(kType) == kSecond);
    CHECK(current_stream(kType) == Stream(kSecond, 1));
    CHECK(guard.current_stream() == Stream(kSecond, 1));
    CHECK(guard.original_stream() == default_stream(kFirst));
    CHECK(guard.current_device() == kSecond);
    CHECK(guard.original_device() == kFirst);
    set_current_stream(Stream(kSecond, 0));  // ends with the scope, too
  }
  CHECK(current_device(kType) == kFirst);
  CHECK(current_stream(kSecond) == Stream(kSecond, 2));
  set_current_stream(default_stream(kSecond));
  {
    OptionalStreamGuard none(std::nullopt);
    CHECK(current_stream(kFirst).id() == 0);
    OptionalStreamGuard one(Stream(kFirst, 1));
    CHECK(current_stream(kFirst).id() == 1);
  }
  CHECK(current_stream(kFirst).id() == 0);
}

TEST_CASE("a stream that does not exist is refused and nothing changes", "[devices][stream]") {
  Event event(kType);
  for (const Stream bad : {Stream(kFirst, 3), Stream(kFirst, -1), Stream(Device(kType, 2), 0),
                           Stream(Device(kType), 0)}) {
    CHECK_THROWS_AS(bad.query(), RuntimeError);
    CHECK_THROWS_AS(bad.synchronize(), RuntimeError);
    CHECK_THROWS_AS(set_current_stream(bad), RuntimeError);
    CHECK_THROWS_AS(StreamGuard(bad), RuntimeError);
    CHECK_THROWS_AS(event.record(bad), RuntimeError);
  }
  CHECK_THROWS_WITH(Stream(kFirst, 3).query(), Catch::Contains("stream 3 of privateusethree:0"));
  CHECK_FALSE(event.was_recorded());
  CHECK(current_device(kType) == kFirst);
  CHECK(current_stream(kFirst).id() == 0);
}

TEST_CASE("an event is of the device whose stream recorded it", "[devices][event]") {
  asked.clear();
  Event event(kType);
  CHECK(event.device() == Device(kType));
  CHECK_FALSE(event.was_recorded());
  event.record_once(Stream(kSecond, 1));
  event.record_once(Stream(kSecond, 2));  // it was
  CHECK(event.was_recorded());
  CHECK(event.device() == kSecond);
  Stream(kFirst, 1).wait(event);
  event.synchronize();
  CHECK(asked == std::vector<std::string>{"record in stream 1 of privateusethree:1",
                                          "block stream 1 of privateusethree:0",
                                          "synchronize event"});
  Event moved = std::move(event);
  CHECK(moved.was_recorded());
}

TEST_CASE("an event that was never recorded is done", "[devices][event]") {
  asked.clear();
  const Event event(kType);
  CHECK(event.query());
  event.synchronize();
  Stream(kFirst, 1).wait(event);
  CHECK(asked.empty());
}

TEST_CASE("an event takes streams of its device type only", "[devices][event]") {
  Event event(kType);
  CHECK_THROWS_WITH(event.record(default_stream(DeviceType::CPU)),
                    Catch::Contains("expected a stream of privateusethree") &&
                        Catch::Contains("stream 0 of cpu"));
  event.record(Stream(kFirst, 0));
  CHECK_THROWS_AS(event.block(default_stream(DeviceType::CPU)), RuntimeError);
}

TEST_CASE("time is measured between events that are made for it, recorded and done",
          "[devices][event]") {
  Event plain(kType), start(kType, EventFlag::Timing), end(kType, EventFlag::Timing);
  start.record(Stream(kFirst, 0));
  plain.record(Stream(kFirst, 0));
  CHECK_THROWS_WITH(start.elapsed_ms(end), Catch::Contains("last event was not recorded"));
  CHECK_THROWS_WITH(end.elapsed_ms(start), Catch::Contains("first event was not recorded"));
  CHECK_THROWS_WITH(start.elapsed_ms(plain), Catch::Contains("EventFlag::Timing"));
  end.record(Stream(kSecond, 0));
  CHECK_THROWS_WITH(start.elapsed_ms(end), Catch::Contains("privateusethree:0 and "));
  end.record(Stream(kFirst, 1));
  RecordedEvent::pending = true;
  CHECK_THROWS_WITH(start.elapsed_ms(end), Catch::Contains("not done"));
  RecordedEvent::pending = false;
  CHECK(start.elapsed_ms(end) == 1.5);
}

TEST_CASE("the CPU has one stream, always done, and neither a pool nor events",
          "[devices][stream]") {
  const Stream stream = current_stream(DeviceType::CPU);
  CHECK(stream == default_stream(DeviceType::CPU));
  CHECK(stream.id() == 0);
  CHECK(stream.query());
  stream.synchronize();
  StreamGuard guard(stream);
  CHECK_THROWS_WITH(stream_from_pool(DeviceType::CPU), Catch::Contains("cpu"));
  Event event(DeviceType::CPU);
  CHECK_THROWS_AS(event.record(stream), NotImplementedError);
  CHECK(event.query());
  CHECK_THROWS_AS(current_stream(DeviceType::VE), NotImplementedError);
}

}  // namespace
}  // namespace sb
