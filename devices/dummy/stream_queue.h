// One stream: work that runs in order, on a thread of its own.

#ifndef SWITCHBOARD_DEVICES_DUMMY_STREAM_QUEUE_H_
#define SWITCHBOARD_DEVICES_DUMMY_STREAM_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace sb::dummy {

// Runs once, on some thread.
using Work = absl::AnyInvocable<void()>;

// The first error of a device's work that nobody has been told of yet. Thread-safe.
class WorkErrors {
 public:
  void keep(std::string message);
  // Throws it as a RuntimeError and forgets it; nothing if there is none.
  void throw_first();
  // The same without throwing.
  std::optional<std::string> take();
  bool any() const { return any_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::optional<std::string> first_;
  std::atomic<bool> any_{false};
};

// Returns whether this thread runs the work of a stream. It must not wait for streams then.
bool on_stream_thread();

// Thread-safe. The thread starts with the first work.
class StreamQueue {
 public:
  // `name` is for messages, "stream 1 of dummy:0"; `errors` get what fails, and outlive the queue.
  StreamQueue(std::string name, WorkErrors* errors) : name_(std::move(name)), errors_(errors) {}

  // Appends work, known as `op` in messages; waits while thousands are queued. False, and `work` is
  // as it was, after finish(). RuntimeError where the system gives no thread.
  bool push(std::string op, Work& work);
  // Returns whether all work so far has run, and is gone with what it held.
  bool is_idle() const {
    return done_.load(std::memory_order_acquire) == pushed_.load(std::memory_order_acquire);
  }
  // Waits for the work that was pushed before. RuntimeError on a stream's own thread.
  void wait();
  // Runs what is left and ends the thread; nothing can be pushed then.
  void finish();

 private:
  struct Item {
    std::string op;
    Work work;
  };
  void run();
  void run(Item& item);

  const std::string name_;
  WorkErrors* const errors_;
  std::mutex mutex_;
  std::condition_variable pushed_some_, done_some_;
  std::deque<Item> items_;
  bool finished_ = false;
  std::thread thread_;
  // Written under the lock.
  std::atomic<uint64_t> pushed_{0}, done_{0};
};

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_STREAM_QUEUE_H_
