#include "switchboard/devices/dummy/streams.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/device.h"

namespace sb::dummy {
namespace {

Device device_of(int8_t index) { return Device(DeviceType::PrivateUse1, index); }

struct DeviceStreams {
  explicit DeviceStreams(int8_t index) {
    for (StreamId id = 0; id < kStreamCount; ++id)
      queues[id] = std::make_unique<StreamQueue>(to_string(Stream(device_of(index), id)), &errors);
  }
  WorkErrors errors;
  std::unique_ptr<StreamQueue> queues[kStreamCount];
  std::atomic<uint64_t> given{0};  // streams of the pool
};
struct Streams {
  explicit Streams(const Streams* parent) : parent(parent) {}
  DeviceStreams devices[kDeviceCount] = {DeviceStreams(0), DeviceStreams(1)};
  const Streams* const parent;  // of the process that this one was forked from: kept, not used
};

std::atomic<Streams*>& streams();

// At exit: no work is lost, and no error unheard. What is launched from then on runs at once.
void finish_all() {
  if (on_stream_thread()) return;
  for (DeviceStreams& device : streams().load()->devices) {
    for (auto& queue : device.queues) queue->finish();
    if (const auto error = device.errors.take()) std::fprintf(stderr, "%s\n", error->c_str());
  }
}

// Never destroyed: static objects may use the device at exit. The child of a fork has none of its
// parent's threads, and begins with fresh streams; work that waited is lost to it.
std::atomic<Streams*>& streams() {
  static std::atomic<Streams*> all = [] {
    pthread_atfork(nullptr, nullptr, [] { streams() = new Streams(streams()); });
    std::atexit(finish_all);
    return new Streams(nullptr);
  }();
  return all;
}

DeviceStreams& streams_of(int8_t index) { return streams().load()->devices[index]; }
StreamQueue& queue_of(Stream stream) {
  return *streams_of(stream.device().index).queues[stream.id()];
}

std::atomic<bool>& blocking() {
  static std::atomic<bool> blocking = [] {
    const char* const wish = std::getenv("SB_DUMMY_LAUNCH_BLOCKING");
    return !(wish && std::string_view(wish) == "0");
  }();
  return blocking;
}

// One recording of an event. What waited at a fork is lost to the child: there, it has passed.
class Mark {
 public:
  void pass() {
    std::lock_guard<std::mutex> lock(mutex_);
    time_ = std::chrono::steady_clock::now();
    passed_ = true;
    changed_.notify_all();
  }
  void wait() {
    if (is_lost()) return;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return passed_; });
  }
  bool passed() {
    if (is_lost()) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    return passed_;
  }
  // After it has passed.
  std::chrono::steady_clock::time_point time() {
    if (is_lost()) return time_;
    std::lock_guard<std::mutex> lock(mutex_);
    return time_;
  }

 private:
  bool is_lost() const { return made_in_ != streams().load(); }

  const Streams* const made_in_ = streams().load();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool passed_ = false;
  std::chrono::steady_clock::time_point time_;
};

std::shared_ptr<Mark> mark_in(Stream stream) {
  auto mark = std::make_shared<Mark>();
  Work pass = [mark] { mark->pass(); };
  StreamQueue& queue = queue_of(stream);
  if (queue.is_idle()) {
    mark->pass();
  } else if (!queue.push("record of an event", pass)) {
    queue.wait();
    mark->pass();
  }
  return mark;
}

void wait_for_mark(Stream stream, const std::shared_ptr<Mark>& mark) {
  if (mark->passed()) return;
  Work wait = [mark] { mark->wait(); };
  if (!queue_of(stream).push("wait for an event", wait)) mark->wait();
}

class DummyEvent final : public EventImpl {
 public:
  void record(Stream stream) override {
    mark_ = mark_in(stream);
    device_ = stream.device().index;
  }
  void block(Stream stream) override { wait_for_mark(stream, mark_); }
  bool query() const override { return mark_->passed(); }
  void synchronize() const override {
    if (!mark_->passed()) {
      SB_CHECK(!on_stream_thread(), "Event::synchronize: the work of a stream cannot wait");
      mark_->wait();
    }
    streams_of(device_).errors.throw_first();
  }
  double elapsed_ms(const EventImpl& end) const override {
    const std::chrono::duration<double, std::milli> time =
        static_cast<const DummyEvent&>(end).mark_->time() - mark_->time();
    return time.count();
  }

 private:
  std::shared_ptr<Mark> mark_;
  int8_t device_ = 0;
};

constinit thread_local StreamId this_threads_streams[kDeviceCount] = {};

}  // namespace

void set_launch_blocking(bool on) { blocking().store(on, std::memory_order_relaxed); }
bool launch_blocking() { return blocking().load(std::memory_order_relaxed); }

AsynchronousLaunches::AsynchronousLaunches() : before_(launch_blocking()) {
  set_launch_blocking(false);
}
AsynchronousLaunches::~AsynchronousLaunches() {
  set_launch_blocking(before_);
  for (DeviceStreams& device : streams().load()->devices) {
    for (auto& queue : device.queues) queue->wait();
    device.errors.take();
  }
}

void run_on_stream(Stream stream, std::string op, Work work) {
  StreamQueue& queue = queue_of(stream);
  const bool blocks = launch_blocking();
  if (blocks && queue.is_idle()) return work();
  if (!queue.push(std::move(op), work)) {
    queue.wait();
    return work();
  }
  if (blocks) synchronize_stream(stream);
}

void wait_for_stream(Stream stream, Stream other) {
  if (stream != other && !is_idle(other)) wait_for_mark(stream, mark_in(other));
}

bool is_idle(Stream stream) { return queue_of(stream).is_idle(); }

void synchronize_stream(Stream stream) {
  queue_of(stream).wait();
  streams_of(stream.device().index).errors.throw_first();
}

void synchronize_device(int8_t index) {
  DeviceStreams& device = streams_of(index);
  for (auto& queue : device.queues) queue->wait();
  device.errors.throw_first();
}

Stream current_stream_of(int8_t index) {
  return Stream(device_of(index), this_threads_streams[index]);
}
void make_current(Stream stream) noexcept {
  this_threads_streams[stream.device().index] = stream.id();
}

Stream next_pool_stream(int8_t index) {
  const uint64_t n = streams_of(index).given.fetch_add(1, std::memory_order_relaxed);
  return Stream(device_of(index), 1 + static_cast<StreamId>(n % (kStreamCount - 1)));
}

std::unique_ptr<EventImpl> make_event() { return std::make_unique<DummyEvent>(); }

}  // namespace sb::dummy
