#include "switchboard/ops/cpu/parallel.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb {
namespace {

// Restores the number of threads.
class WithThreads {
 public:
  explicit WithThreads(int n) : before_(get_num_threads()) { set_num_threads(n); }
  ~WithThreads() { set_num_threads(before_); }

 private:
  int before_;
};

using Pieces = std::set<std::pair<int64_t, int64_t>>;

Pieces pieces_of(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  Pieces pieces;
  parallel_for(begin, end, grain, [&](int64_t from, int64_t to) {
    std::lock_guard<std::mutex> lock(mutex);
    CHECK(pieces.emplace(from, to).second);
  });
  return pieces;
}

TEST_CASE("pieces cover the range once, and are the same for any number of threads", "[ops]") {
  const int threads = GENERATE(1, 2, 3, 16);
  const WithThreads with(threads);
  CHECK(pieces_of(3, 10, 3) == Pieces{{3, 6}, {6, 9}, {9, 10}});
  CHECK(pieces_of(-5, 5, 5) == Pieces{{-5, 0}, {0, 5}});
  CHECK(pieces_of(0, 7, 100) == Pieces{{0, 7}});
  CHECK(pieces_of(0, 3, 0) == Pieces{{0, 1}, {1, 2}, {2, 3}});
  CHECK(pieces_of(4, 4, 1).empty());
  CHECK(pieces_of(4, 1, 1).empty());
}

TEST_CASE("the ends of the range may be any integers that are less than 2^63 apart", "[ops]") {
  const WithThreads with(GENERATE(1, 4));
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  CHECK(pieces_of(max - 5, max, 3) == Pieces{{max - 5, max - 2}, {max - 2, max}});
  CHECK(pieces_of(0, max, max) == Pieces{{0, max}});
  CHECK(pieces_of(0, max, max - 1) == Pieces{{0, max - 1}, {max - 1, max}});
}

TEST_CASE("several threads take part", "[ops]") {
  const WithThreads with(2);
  // Each of the two pieces waits for the other to begin.
  std::atomic<int> begun = 0;
  parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  CHECK(begun == 2);
}

TEST_CASE("what is written in pieces is there when parallel_for returns", "[ops]") {
  const WithThreads with(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> numbers(64, 0);
    parallel_for(0, 64, 4, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) numbers[static_cast<size_t>(i)] += round;
    });
    CHECK(numbers == std::vector<int>(64, round));
  }
}

TEST_CASE("an exception in a piece comes out of parallel_for, and the next call is as usual",
          "[ops]") {
  const WithThreads with(GENERATE(1, 4));
  std::atomic<int> under_way = 0;
  CHECK_THROWS_AS(parallel_for(0, 100, 1,
                               [&](int64_t from, int64_t) {
                                 ++under_way;
                                 std::this_thread::yield();
                                 --under_way;
                                 if (from % 10 == 3) throw std::domain_error("piece");
                               }),
                  std::domain_error);
  CHECK(under_way == 0);  // nobody is left in a piece, whose variables are gone now
  CHECK_FALSE(in_parallel_region());
  CHECK(pieces_of(0, 2, 1).size() == 2);
}

TEST_CASE("inside a piece, parallel_for runs on the same thread", "[ops]") {
  const WithThreads with(4);
  CHECK_FALSE(in_parallel_region());
  parallel_for(0, 8, 1, [&](int64_t, int64_t) {
    const std::thread::id here = std::this_thread::get_id();
    const bool in_region = in_parallel_region();
    int64_t inner = 0;
    parallel_for(0, 8, 1, [&](int64_t from, int64_t to) {
      if (std::this_thread::get_id() != here) throw std::logic_error("another thread");
      inner += to - from;
    });
    if (!in_region || inner != 8) throw std::logic_error("inner loop");
  });
  CHECK_FALSE(in_parallel_region());
}

TEST_CASE("many threads may call parallel_for while others change the number of threads", "[ops]") {
  const WithThreads with(2);
  std::atomic<int64_t> sum = 0;
  std::atomic<bool> done = false;
  std::thread changer([&] {
    for (int n = 1; !done; n = n % 6 + 1) set_num_threads(n);
  });
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        parallel_for(0, 10, 1, [&](int64_t from, int64_t to) { sum += to - from; });
      }
    });
  }
  for (std::thread& t : callers) t.join();
  done = true;
  changer.join();
  CHECK(sum == 4 * 100 * 10);
}

#ifndef __SANITIZE_THREAD__  // which does not know forks
TEST_CASE("the child of a fork, which has none of its parent's threads, makes its own", "[ops]") {
  const WithThreads with(3);
  CHECK(pieces_of(0, 6, 1).size() == 6);  // the parent has workers
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // rather than hang
    std::atomic<int> ran = 0;
    parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      ++ran;
      while (ran < 2) std::this_thread::yield();
    });
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("a parallel_for with one piece is not split, and what it calls may be", "[ops]") {
  const WithThreads with(2);
  parallel_for(0, 1, 1, [&](int64_t, int64_t) {
    CHECK_FALSE(in_parallel_region());
    std::atomic<int> begun = 0;
    parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    CHECK(begun == 2);
  });
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which need addresses too
TEST_CASE("where threads cannot be started, the work is done without them", "[ops]") {
  const WithThreads with(512);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // rather than hang
    // Room for the stacks of some threads, but not of 511.
    const rlimit room = {rlim_t{1} << 30, rlim_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &room) != 0) _exit(2);
    std::atomic<int> ran = 0;
    parallel_for(0, 1000, 1, [&](int64_t, int64_t) { ++ran; });
    _exit(ran == 1000 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("there is at least one thread", "[ops]") {
  CHECK_THROWS_AS(set_num_threads(0), ValueError);
  CHECK_THROWS_AS(set_num_threads(-1), ValueError);
  CHECK(get_num_threads() >= 1);
}

}  // namespace
}  // namespace sb
