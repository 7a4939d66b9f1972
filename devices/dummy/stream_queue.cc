#include "switchboard/devices/dummy/stream_queue.h"

#include <exception>
#include <system_error>
#include <utility>

#include "switchboard/core/error.h"

namespace sb::dummy {
namespace {

constinit thread_local bool is_stream_thread = false;

// Work may hold memory. Who is this far ahead waits.
constexpr size_t kMostQueued = 4096;

}  // namespace

bool on_stream_thread() { return is_stream_thread; }

void WorkErrors::keep(std::string message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (first_) return;
  first_ = std::move(message);
  any_.store(true, std::memory_order_release);
}

std::optional<std::string> WorkErrors::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  any_.store(false, std::memory_order_release);
  return std::exchange(first_, std::nullopt);
}

void WorkErrors::throw_first() {
  if (!any()) return;
  if (const std::optional<std::string> message = take()) SB_THROW(RuntimeError, *message);
}

bool StreamQueue::push(std::string op, Work& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!is_stream_thread)
    done_some_.wait(lock, [&] { return items_.size() < kMostQueued || finished_; });
  if (finished_) return false;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      SB_THROW(RuntimeError, op, ": ", name_, ": no thread: ", error.what());
    }
  }
  items_.push_back({std::move(op), std::move(work)});
  pushed_.fetch_add(1, std::memory_order_release);
  pushed_some_.notify_one();
  return true;
}

void StreamQueue::run() {
  is_stream_thread = true;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    pushed_some_.wait(lock, [&] { return !items_.empty() || finished_; });
    if (items_.empty()) return;
    {
      Item item = std::move(items_.front());
      items_.pop_front();
      lock.unlock();
      run(item);
    }
    lock.lock();
    done_.fetch_add(1, std::memory_order_release);
    done_some_.notify_all();
  }
}

void StreamQueue::run(Item& item) {
  const auto failed = [&](std::string_view what) {
    try {
      errors_->keep(str_cat(item.op, ": failed in ", name_, ": ", what));
    } catch (const std::bad_alloc&) {
      errors_->keep("out of memory");  // short enough to need none
    }
  };
  try {
    item.work();
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("an exception of unknown type");
  }
}

void StreamQueue::wait() {
  if (is_idle()) return;
  SB_CHECK(!is_stream_thread, name_, ": the work of a stream cannot wait for a stream");
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t last = pushed_.load(std::memory_order_relaxed);
  done_some_.wait(lock, [&] { return done_.load(std::memory_order_relaxed) >= last; });
}

void StreamQueue::finish() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
    pushed_some_.notify_one();
    done_some_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace sb::dummy
