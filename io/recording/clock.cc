#include "switchboard/io/recording/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace sb::internal {
namespace {

#ifdef __x86_64__
// Whether the counter's speed is the same whatever the processor's is.
bool has_steady_counter() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kInvariant = 1 << 8;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & kInvariant);
}

double measure() {
  using Clock = std::chrono::steady_clock;
  if (!has_steady_counter()) return 1;
  const Clock::time_point begin = Clock::now();
  const uint64_t first = __builtin_ia32_rdtsc();
  Clock::time_point now = begin;
  uint64_t last = first;
  while (now - begin < std::chrono::milliseconds(1)) {
    now = Clock::now();
    last = __builtin_ia32_rdtsc();
  }
  return std::chrono::duration<double, std::nano>(now - begin).count() /
         static_cast<double>(last - first);
}
#endif

}  // namespace

double CallClock::speed() {
#ifdef __x86_64__
  static const double measured = measure();
  return measured;
#else
  return kNoCounter;
#endif
}

}  // namespace sb::internal
