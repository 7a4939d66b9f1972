// Asynchronous execution, seen from work that waits until the test lets it go on.

#include "switchboard/devices/dummy/streams.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/launch.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/devices/event.h"
#include "switchboard/devices/stream_guard.h"

namespace sb::dummy {
namespace {

using Floats = std::vector<float>;

// Work passes when the gate is open. Opens at the end of the test, however that comes.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

// Work is done before the gates that it waits for are gone: members end in the opposite order.
struct Asynchronous {
  AsynchronousLaunches launches;
  Gate gate;
};

void add_one(const Tensor& t) {
  launch("test::add_one", {t}, [](HostTensors t) {
    for (int64_t i = 0; i < t[0].numel(); ++i) t[0].data<float>()[i] += 1;
  });
}
void wait_for(Gate& gate, Stream stream) {
  run_on_stream(stream, "test::wait", [&gate] { gate.pass(); });
}
void fail(Stream stream) {
  run_on_stream(stream, "test::fail", [] { throw ValueError("no luck"); });
}

TEST_CASE("operators return when their work is done, unless launches are made asynchronous",
          "[dummy][stream]") {
  CHECK(launch_blocking());
  std::thread::id ran_on;
  run_on_stream(default_stream(kFirst), "test::op", [&] { ran_on = std::this_thread::get_id(); });
  CHECK(ran_on == std::this_thread::get_id());
  {
    AsynchronousLaunches launches;
    CHECK_FALSE(launch_blocking());
    run_on_stream(default_stream(kFirst), "test::op", [&] { ran_on = std::this_thread::get_id(); });
    synchronize(kFirst);
    CHECK(ran_on != std::this_thread::get_id());
  }
  CHECK(launch_blocking());
}

TEST_CASE("an asynchronous operator returns before its work is done", "[dummy][stream]") {
  Asynchronous on;
  const Tensor t = tensor_of<float>(kFirst, {2}, {1, 2});
  const Stream stream = current_stream(kFirst);
  wait_for(on.gate, stream);
  add_one(t);
  CHECK_FALSE(stream.query());
  CHECK(is_sealed(t));
  on.gate.open();
  stream.synchronize();
  CHECK(stream.query());
  CHECK(storage_of<float>(t) == Floats{2, 3});
}

TEST_CASE("the work of a stream runs in its order", "[dummy][stream]") {
  Asynchronous on;
  std::vector<int> order;
  wait_for(on.gate, default_stream(kSecond));
  for (int i = 0; i < 100; ++i)
    run_on_stream(default_stream(kSecond), "test::op", [&order, i] { order.push_back(i); });
  on.gate.open();
  synchronize(kSecond);
  REQUIRE(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("host code that opens memory waits for the device's work", "[dummy][stream]") {
  Asynchronous on;
  const Tensor t = tensor_of<float>(kFirst, {1}, {1});
  wait_for(on.gate, default_stream(kFirst));
  for (int i = 0; i < 5; ++i) add_one(t);
  std::thread opener([&] { on.gate.open(); });
  CHECK(storage_of<float>(t) == Floats{6});
  opener.join();
}

TEST_CASE("memory that is freed lasts until the work on it is done", "[dummy][stream]") {
  Asynchronous on;
  wait_for(on.gate, default_stream(kFirst));
  const int64_t before = allocation_stats(0).current_bytes();
  std::atomic<float> seen{0};
  {
    const Tensor t = empty_on(kFirst, {3}, DType::Float32);
    add_one(t);
    launch("test::look", {t}, [&](HostTensors t) { seen = t[0].data<float>()[2]; });
  }
  CHECK(allocation_stats(0).current_bytes() == before);
  on.gate.open();
  synchronize(kFirst);
  CHECK(seen == 1);
}

TEST_CASE("work keeps to the shape that its tensor had", "[dummy][stream]") {
  Asynchronous on;
  const Tensor t = tensor_of<float>(kFirst, {4}, {1, 1, 1, 1});
  wait_for(on.gate, default_stream(kFirst));
  add_one(t);
  t.impl()->set_sizes_and_strides({1}, {1});
  t.impl()->set_storage_offset(2);
  on.gate.open();
  CHECK(storage_of<float>(t) == Floats{2, 2, 2, 2});
}

TEST_CASE("a storage that grows keeps what queued work will have written", "[dummy][stream]") {
  Asynchronous on;
  const Tensor t = tensor_of<float>(kFirst, {2}, {1, 2});
  wait_for(on.gate, default_stream(kFirst));
  add_one(t);
  std::thread opener([&] { on.gate.open(); });
  t.storage()->resize(16);
  opener.join();
  const Floats grown = storage_of<float>(t);
  CHECK(grown[0] == 2);
  CHECK(grown[1] == 3);
}

TEST_CASE("streams do not wait for each other, unless an event says so", "[dummy][stream]") {
  Asynchronous on;
  const Stream slow = stream_from_pool(kFirst), fast = stream_from_pool(kFirst);
  REQUIRE(slow != fast);
  std::atomic<int> done{0};
  wait_for(on.gate, slow);
  run_on_stream(slow, "test::op", [&] { done = 1; });
  Event event(DeviceType::PrivateUse1);
  event.record(slow);
  run_on_stream(fast, "test::op", [] {});
  fast.synchronize();  // while the other stands still
  CHECK(done == 0);
  CHECK_FALSE(event.query());

  int seen = -1;
  fast.wait(event);
  run_on_stream(fast, "test::op", [&] { seen = done; });
  CHECK_FALSE(fast.query());
  on.gate.open();
  fast.synchronize();
  CHECK(seen == 1);
  CHECK(event.query());
}

TEST_CASE("events order the streams of both devices", "[dummy][stream]") {
  Asynchronous on;
  const Stream first = default_stream(kFirst), second = default_stream(kSecond);
  int value = 0;
  wait_for(on.gate, first);
  for (int i = 0; i < 20; ++i) {
    run_on_stream(first, "test::op", [&] { value = 2 * value + 1; });
    Event there(DeviceType::PrivateUse1), back(DeviceType::PrivateUse1);
    there.record(first);
    second.wait(there);
    run_on_stream(second, "test::op", [&] { value -= 1; });
    back.record(second);
    first.wait(back);
  }
  on.gate.open();
  synchronize(kFirst);
  synchronize(kSecond);
  CHECK(value == 0);
}

TEST_CASE("who waits for an event waits for what it had recorded by then", "[dummy][stream]") {
  Asynchronous on;
  Gate never;
  const Stream a = stream_from_pool(kFirst), b = stream_from_pool(kFirst);
  Event event(DeviceType::PrivateUse1);
  wait_for(on.gate, a);
  event.record(a);
  b.wait(event);
  wait_for(never, a);
  event.record(a);
  on.gate.open();
  b.synchronize();  // the first mark is enough
  CHECK_FALSE(event.query());
  never.open();
  event.synchronize();
  CHECK(event.query());
}

TEST_CASE("an event measures the time that work took", "[dummy][stream]") {
  AsynchronousLaunches launches;
  Event start(DeviceType::PrivateUse1, EventFlag::Timing),
      end = Event(start.device().type, EventFlag::Timing);
  const Stream stream = default_stream(kFirst);
  start.record(stream);
  run_on_stream(stream, "test::sleep",
                [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  end.record(stream);
  end.synchronize();
  CHECK(start.elapsed_ms(end) >= 5);
  CHECK(start.elapsed_ms(end) < 60000);
  CHECK(end.elapsed_ms(start) <= -5);
}

TEST_CASE("an error of queued work comes with the next synchronisation, once, by its operator",
          "[dummy][stream]") {
  AsynchronousLaunches launches;
  const Tensor t = tensor_of<float>(kFirst, {1}, {1});
  const Stream stream = stream_from_pool(kFirst);
  fail(stream);
  fail(stream);  // only the first is told
  bool later = false;
  run_on_stream(stream, "test::op", [&] { later = true; });
  CHECK_THROWS_WITH(stream.synchronize(), Catch::Contains("test::fail") &&
                                              Catch::Contains(to_string(stream)) &&
                                              Catch::Contains("no luck"));
  CHECK(later);
  stream.synchronize();

  fail(stream);
  CHECK_THROWS_AS(synchronize(kFirst), RuntimeError);
  synchronize(kFirst);

  fail(stream);
  synchronize(kSecond);  // another device
  Event event(DeviceType::PrivateUse1);
  event.record(stream);
  CHECK_THROWS_AS(event.synchronize(), RuntimeError);

  fail(stream);
  CHECK_THROWS_AS(storage_of<float>(t), RuntimeError);
  CHECK(storage_of<float>(t) == Floats{1});
  CHECK(is_sealed(t));
}

TEST_CASE("where launches block, errors come at once and as they are", "[dummy][stream]") {
  CHECK_THROWS_AS(fail(default_stream(kFirst)), ValueError);
  synchronize(kFirst);
  Gate gate;
  bool first = false, second = false;
  std::thread opener;
  {
    AsynchronousLaunches launches;
    wait_for(gate, default_stream(kFirst));
    run_on_stream(default_stream(kFirst), "test::op", [&] { first = true; });
    set_launch_blocking(true);
    opener = std::thread([&] { gate.open(); });
    // After the work that is queued already.
    run_on_stream(default_stream(kFirst), "test::op", [&] { second = first; });
    CHECK(second);
    CHECK_THROWS_WITH(fail(default_stream(kFirst)), Catch::Contains("no luck"));
  }
  opener.join();
}

TEST_CASE("work cannot wait for a stream, which might be its own", "[dummy][stream]") {
  AsynchronousLaunches launches;
  const Tensor t = tensor_of<float>(kFirst, {1}, {1});
  const Stream stream = default_stream(kFirst);
  run_on_stream(stream, "test::op", [&] { stream.synchronize(); });
  CHECK_THROWS_WITH(stream.synchronize(), Catch::Contains("cannot wait"));
  run_on_stream(stream, "test::op", [&] { DeviceMemory::Unlock open{t}; });
  CHECK_THROWS_WITH(stream.synchronize(), Catch::Contains("cannot wait"));
}

TEST_CASE("threads have current streams of their own, and give work to one at the same time",
          "[dummy][stream]") {
  AsynchronousLaunches launches;
  const Tensor t = tensor_of<float>(kFirst, {1}, {0});
  StreamGuard guard(stream_from_pool(kFirst));
  std::vector<std::thread> threads;
  std::atomic<int> not_default{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (current_stream(kFirst) != default_stream(kFirst)) ++not_default;
      for (int k = 0; k < 200; ++k) add_one(t);
      current_stream(kFirst).synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(not_default == 0);
  CHECK(storage_of<float>(t) == Floats{800});
}

TEST_CASE("who gives work faster than it runs waits, and loses none", "[dummy][stream]") {
  AsynchronousLaunches launches;
  std::atomic<int> count{0};
  for (int i = 0; i < 20000; ++i)
    run_on_stream(default_stream(kFirst), "test::op", [&] { ++count; });
  synchronize(kFirst);
  CHECK(count == 20000);
}

TEST_CASE("the pool gives streams other than the default one, in turn", "[dummy][stream]") {
  std::vector<StreamId> ids;
  for (StreamId i = 0; i < kStreamCount; ++i) ids.push_back(stream_from_pool(kSecond).id());
  CHECK(ids.front() == ids.back());
  std::sort(ids.begin(), ids.end());
  CHECK(ids.front() == 1);
  CHECK(ids.back() == kStreamCount - 1);
  CHECK_THROWS_WITH(Stream(kFirst, kStreamCount).query(), Catch::Contains("there is no stream 5"));
}

#ifndef __SANITIZE_THREAD__  // which takes no new threads after a fork

// What a child process writes to its output before it ends, by `f` and by its exit.
template <class F>
std::string output_of(F&& f) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    f();
    std::exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  return text;
}

TEST_CASE("no work is lost when the process exits, and no error", "[dummy][stream]") {
  const std::string text = output_of([] {
    set_launch_blocking(false);
    const Stream first = default_stream(kFirst), second = default_stream(kSecond);
    run_on_stream(first, "test::op", [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::fputs("first;", stderr);
    });
    Event event(DeviceType::PrivateUse1);
    event.record(first);
    second.wait(event);
    run_on_stream(second, "test::op", [] { std::fputs("second;", stderr); });
    fail(second);
  });
  // A sanitizer may have more to say.
  CHECK_THAT(
      text, Catch::StartsWith("first;second;test::fail: failed in stream 0 of dummy:1: no luck\n"));
}

TEST_CASE("the child of a fork has streams of its own", "[dummy][stream]") {
  Asynchronous on;
  wait_for(on.gate, default_stream(kFirst));
  const Tensor t = tensor_of<float>(kSecond, {1}, {1});
  const std::string text = output_of([&] {
    if (default_stream(kFirst).query()) std::fputs("idle;", stderr);
    add_one(t);
    std::fprintf(stderr, "%g", storage_of<float>(t)[0]);
  });
  CHECK_THAT(text, Catch::StartsWith("idle;2"));
}

TEST_CASE("an event that waited at a fork has passed in the child", "[dummy][stream]") {
  Asynchronous on;
  wait_for(on.gate, default_stream(kFirst));
  Event event(DeviceType::PrivateUse1);
  event.record(default_stream(kFirst));
  const std::string text = output_of([&] {
    event.synchronize();
    default_stream(kSecond).wait(event);
    synchronize(kSecond);
    std::fputs("passed", stderr);
  });
  CHECK_THAT(text, Catch::StartsWith("passed"));
}

TEST_CASE("a fork while a stream opens and seals memory leaves the child able to",
          "[dummy][stream]") {
  Asynchronous on;
  const Tensor t = tensor_of<float>(kFirst, {1}, {1});
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 50; ++j) add_one(t);
    const std::string text = output_of([] {
      const Tensor fresh = tensor_of<float>(kSecond, {1}, {1});
      std::fputs("made", stderr);
    });
    CHECK_THAT(text, Catch::StartsWith("made"));
  }
}

#endif

}  // namespace
}  // namespace sb::dummy
