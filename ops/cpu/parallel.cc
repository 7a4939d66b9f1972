#include "switchboard/ops/cpu/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "switchboard/core/error.h"
#include "unsupported/Eigen/CXX11/ThreadPool"

namespace sb {
namespace {

thread_local bool in_region = false;

int initial_threads() {
  const char* const wish = std::getenv("SB_NUM_THREADS");
  int n;
  if (wish && absl::SimpleAtoi(wish, &n) && n > 0) return n;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::atomic<int>& num_threads() {
  static std::atomic<int> n = initial_threads();
  return n;
}

// Gives Eigen's pool its threads, all of them started before it begins: a pool that has some of its
// threads when the next one fails to start would wait for them forever.
class StartedThreads {
 public:
  struct Task {
    std::function<void()> f;
  };
  // Runs what it is given, once.
  class EnvThread {
   public:
    EnvThread() : thread_([work = work_.get_future()]() mutable { run(std::move(work)); }) {}
    ~EnvThread() {
      work_ = {};  // a thread that was given nothing ends
      thread_.join();
    }
    void give(std::function<void()> work) { work_.set_value(std::move(work)); }

   private:
    static void run(std::future<std::function<void()>> given) {
      std::function<void()> work;
      try {
        work = given.get();
      } catch (const std::future_error&) {
        return;
      }
      work();
    }

    std::promise<std::function<void()>> work_;
    std::thread thread_;
  };

  // Throws std::system_error where there are not so many to be had.
  explicit StartedThreads(int n) : idle_(std::make_shared<Threads>()) {
    while (std::ssize(*idle_) < n) idle_->push_back(std::make_unique<EnvThread>());
  }
  EnvThread* CreateThread(std::function<void()> work) {
    idle_->back()->give(std::move(work));
    EnvThread* const thread = idle_->back().release();
    idle_->pop_back();
    return thread;
  }
  Task CreateTask(std::function<void()> f) { return {std::move(f)}; }
  void ExecuteTask(const Task& task) { task.f(); }

 private:
  using Threads = std::vector<std::unique_ptr<EnvThread>>;
  std::shared_ptr<Threads> idle_;  // the pool copies its environment
};

using Pool = Eigen::ThreadPoolTempl<StartedThreads>;

struct Workers {
  std::mutex mutex;
  std::shared_ptr<Pool> pool;
};

// Never destroyed: at exit other static objects may still compute. The child of a fork has none of
// its parent's threads, and begins with a fresh one.
std::atomic<Workers*>& workers() {
  static std::atomic<Workers*> all = [] {
    pthread_atfork(nullptr, nullptr, [] { workers() = new Workers(); });
    return new Workers();
  }();
  return all;
}

// More would be a mistake, and could fail to start.
constexpr int kMaxThreads = 1024;

// The workers, at least `threads` of them, or fewer, or none, where no more threads can be had.
// Replaced by a larger pool when more are wanted than ever before; the calls under way keep the
// smaller one until they are done.
std::shared_ptr<Pool> pool_of(int threads) {
  Workers& all = *workers();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.pool || all.pool->NumThreads() < threads) {
    try {
      // A worker looks for more work for some microseconds before it sleeps: waking it takes as
      // long as many a piece, and operators follow each other closely.
      all.pool = std::make_shared<Pool>(threads, /*allow_spinning=*/true, StartedThreads(threads));
    } catch (const std::exception&) {
      // Fewer threads compute the same.
    }
  }
  return all.pool;
}

// Some 20 microseconds.
constexpr int kSpins = 1000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// One parallel_for. Workers that come late find nothing left to do, after the caller has returned:
// hence they share its ownership.
class Work {
 public:
  Work(int64_t begin, int64_t end, int64_t grain, int64_t pieces,
       absl::FunctionRef<void(int64_t, int64_t)> f)
      : begin_(begin), end_(end), grain_(grain), pieces_(pieces), f_(f), left_(pieces) {}

  void help() {
    const bool outer = in_region;
    in_region = true;
    for (int64_t piece; (piece = next_.fetch_add(1)) < pieces_;) {
      if (!failed_.load(std::memory_order_relaxed)) run(piece);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_all();
    }
    in_region = outer;
  }

  void wait() {
    // The last pieces are about to be done: to sleep takes longer than most of them.
    for (int i = 0; i < kSpins && left_.load(std::memory_order_acquire) != 0; ++i) pause();
    for (int64_t left; (left = left_.load(std::memory_order_acquire)) != 0;) left_.wait(left);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(int64_t piece) {
    const int64_t from = begin_ + piece * grain_;
    try {
      f_(from, piece + 1 == pieces_ ? end_ : from + grain_);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  const int64_t begin_, end_, grain_, pieces_;
  const absl::FunctionRef<void(int64_t, int64_t)> f_;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int64_t> left_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
};

}  // namespace

void set_num_threads(int n) {
  SB_CHECK_VALUE(n >= 1, "set_num_threads: expected at least 1 thread, got ", n);
  num_threads().store(n, std::memory_order_relaxed);
}

int get_num_threads() { return num_threads().load(std::memory_order_relaxed); }

bool in_parallel_region() { return in_region; }

void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  absl::FunctionRef<void(int64_t, int64_t)> f) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  // The most frequent case by far, and the division takes as long as small work does.
  if (end - begin <= grain) return f(begin, end);
  const int64_t pieces = (end - begin - 1) / grain + 1;
  const int threads = static_cast<int>(std::min<int64_t>({get_num_threads(), kMaxThreads, pieces}));
  if (threads == 1 || in_region) {
    for (int64_t from = begin; from < end;) {
      const int64_t to = end - from > grain ? from + grain : end;
      f(from, to);
      from = to;
    }
    return;
  }
  const auto work = std::make_shared<Work>(begin, end, grain, pieces, f);
  if (const std::shared_ptr<Pool> pool = pool_of(threads - 1)) {
    try {
      const int helpers = std::min(threads - 1, pool->NumThreads());
      for (int i = 0; i < helpers; ++i) pool->Schedule([work] { work->help(); });
    } catch (const std::exception&) {
      // Helpers that are under way already refer to `f`, so the call goes on with these.
    }
  }
  work->help();
  work->wait();
}

}  // namespace sb
