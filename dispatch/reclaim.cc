#include "switchboard/dispatch/reclaim.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace sb::internal {
namespace {

struct Thread {
  const std::atomic<uint32_t>* calls;
  uint64_t last_idle = 0;  // the newest epoch in which no call was under way on it
};

struct Retired {
  std::shared_ptr<const void> object;
  uint64_t epoch;
};

struct Reclaimer {
  // Not absl::Mutex; see Dispatcher.
  std::mutex mutex;
  std::vector<Thread> threads;
  std::vector<Retired> retired;
  uint64_t epoch = 0;                    // one more at each retired object
  std::atomic<bool> any_retired{false};  // without the lock: whether there is something to do
  // Cleared by a thread of which nobody can tell for how long its word can be read: one that calls
  // operators from the destructors of pthread keys.
  bool enabled = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
};

// Never destroyed: threads may call until the very end of the program.
Reclaimer& reclaimer();

// A forked process has the thread that forked, and no other.
void before_fork() { reclaimer().mutex.lock(); }
void after_fork_in_parent() { reclaimer().mutex.unlock(); }
void after_fork_in_child() {
  Reclaimer& r = reclaimer();
  std::erase_if(r.threads, [](const Thread& t) { return t.calls != &calls_under_way; });
  r.mutex.unlock();
}

Reclaimer& reclaimer() {
  static Reclaimer* const reclaimer = [] {
    ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
    return new Reclaimer;
  }();
  return *reclaimer;
}

thread_local constinit bool this_thread_ends = false;

// Runs behind all destructors of the thread's variables, which may call operators.
void forget_thread(void*) {
  Reclaimer& r = reclaimer();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::erase_if(r.threads, [](const Thread& t) { return t.calls == &calls_under_way; });
  calls_under_way.store(calls_under_way.load(std::memory_order_relaxed) | kUnknownThread,
                        std::memory_order_relaxed);
  this_thread_ends = true;
}

// Has forget_thread called when this thread ends. The main thread has no such end, and its words
// can be read until the process is gone.
bool forget_at_end() {
  static pthread_key_t key;
  static const bool made = ::pthread_key_create(&key, &forget_thread) == 0;
  return made && ::pthread_setspecific(key, &calls_under_way) == 0;
}

}  // namespace

void know_this_thread() {
  Reclaimer& r = reclaimer();
  std::lock_guard<std::mutex> lock(r.mutex);
  // Idle until now, as far as anything that was retired is concerned.
  if (!this_thread_ends && forget_at_end())
    r.threads.push_back({&calls_under_way, r.epoch});
  else
    r.enabled = false;
  calls_under_way.store(calls_under_way.load(std::memory_order_relaxed) & ~kUnknownThread,
                        std::memory_order_relaxed);
}

void retire(std::shared_ptr<const void> object) {
  Reclaimer& r = reclaimer();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.retired.push_back({std::move(object), ++r.epoch});
  r.any_retired.store(true, std::memory_order_relaxed);
}

void reclaim() {
  Reclaimer& r = reclaimer();
  if (!r.any_retired.load(std::memory_order_relaxed)) return;
  std::vector<Retired> done;  // destroyed without the lock
  std::lock_guard<std::mutex> lock(r.mutex);
  if (r.retired.empty() || !r.enabled) return;
  // After this, each thread's word says whether it can still hold what was found before.
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) != 0) return;
  uint64_t idle = r.epoch;
  for (Thread& thread : r.threads) {
    if (thread.calls->load(std::memory_order_acquire) == 0) thread.last_idle = r.epoch;
    idle = std::min(idle, thread.last_idle);
  }
  const auto in_use = std::find_if(r.retired.begin(), r.retired.end(),
                                   [&](const Retired& x) { return x.epoch > idle; });
  done.assign(std::make_move_iterator(r.retired.begin()), std::make_move_iterator(in_use));
  r.retired.erase(r.retired.begin(), in_use);
  r.any_retired.store(!r.retired.empty(), std::memory_order_relaxed);
}

size_t retired_objects() {
  Reclaimer& r = reclaimer();
  std::lock_guard<std::mutex> lock(r.mutex);
  return r.retired.size();
}

}  // namespace sb::internal
