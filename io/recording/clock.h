// Nanoseconds that are cheap to ask for.

#ifndef SWITCHBOARD_IO_RECORDING_CLOCK_H_
#define SWITCHBOARD_IO_RECORDING_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace sb::internal {

// Counts from its construction, as std::chrono::steady_clock does, within one part in a thousand:
// two looks at it are an eighth of what recording a call takes. Where the processor has a counter
// of one speed, that is read; its speed is measured once, for a millisecond.
class CallClock {
 public:
  CallClock() : nanoseconds_a_tick_(speed()), start_(ticks()) {}
  uint64_t now() const {
    return static_cast<uint64_t>(static_cast<double>(ticks() - start_) * nanoseconds_a_tick_);
  }

 private:
  uint64_t ticks() const {
#ifdef __x86_64__
    if (nanoseconds_a_tick_ != kNoCounter) return __builtin_ia32_rdtsc();
#endif
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }
  static constexpr double kNoCounter = 1;
  static double speed();

  double nanoseconds_a_tick_;
  uint64_t start_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_CLOCK_H_
