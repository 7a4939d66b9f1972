// Times two runs in turns, in one process.

#ifndef SWITCHBOARD_BENCH_SIDE_BY_SIDE_H_
#define SWITCHBOARD_BENCH_SIDE_BY_SIDE_H_

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace sb::bench {

using Clock = std::chrono::steady_clock;

inline double seconds(const std::function<void()>& run, int64_t times) {
  const auto begin = Clock::now();
  for (int64_t i = 0; i < times; ++i) run();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// So many runs take some 10 milliseconds.
inline int64_t calibrate(const std::function<void()>& run) {
  int64_t times = 1;
  while (seconds(run, times) < 0.01 && times < int64_t{1} << 30) times *= 2;
  return times;
}

// Seconds that one run takes. The threads of whoever ran before have gone to sleep by then: those
// of OpenMP and OpenBLAS go on looking for work for some milliseconds, on cores that others need.
inline double turn(const std::function<void()>& run, int64_t times) {
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  seconds(run, 1 + times / 10);
  return seconds(run, times) / static_cast<double>(times);
}

struct Times {
  double ours;
  double theirs;
};

// The fastest of rounds in which the two take turns: what disturbs one disturbs the other.
inline Times measure(const std::function<void()>& ours, const std::function<void()>& theirs) {
  const int64_t our_times = calibrate(ours), their_times = calibrate(theirs);
  Times best{1e9, 1e9};
  for (int round = 0; round < 12; ++round) {
    best.ours = std::min(best.ours, turn(ours, our_times));
    best.theirs = std::min(best.theirs, turn(theirs, their_times));
  }
  return best;
}

// at::set_num_threads does not reach OpenBLAS, which has threads of its own.
inline void set_openblas_threads(int threads) {
  using SetThreads = void (*)(int);
  if (void* const set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<SetThreads>(set)(threads);
}

}  // namespace sb::bench

#endif  // SWITCHBOARD_BENCH_SIDE_BY_SIDE_H_
