// Random number generators: state on a device, what schemas call `Generator`.

#ifndef SWITCHBOARD_CORE_GENERATOR_H_
#define SWITCHBOARD_CORE_GENERATOR_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/core/intrusive_ptr.h"

namespace sb {

// A position in a sequence of random bits: the seed, and how many blocks of philox.h were taken.
struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
};

// As `c10::GeneratorImpl`, for counter-based generators: a caller that draws takes a range of
// counters, and computes their bits where and when it likes. The same seed gives the same numbers,
// whatever the device and the number of threads. A device derives from it to keep the state
// elsewhere. Users hold `mutex` while they draw or change it.
class GeneratorImpl : public IntrusiveTarget {
 public:
  explicit GeneratorImpl(Device device, uint64_t seed = 0) : device_(device), state_{seed, 0} {}
  Device device() const { return device_; }

  // Begins the sequence of the seed.
  virtual void set_seed(uint64_t seed) { state_ = {seed, 0}; }
  virtual uint64_t seed() const { return state_.seed; }
  // Takes the next `blocks` counters for the caller, from the returned offset on.
  virtual PhiloxState take(uint64_t blocks);
  // The state as bytes, and back. As `torch.Generator.get_state`. ValueError, changing nothing, for
  // bytes that state() never gave.
  virtual std::vector<uint8_t> state() const;
  virtual void set_state(absl::Span<const uint8_t> state);

  // 64 random bits; takes one block.
  uint64_t next();

  std::mutex mutex;

 private:
  Device device_;
  PhiloxState state_;
};

using Generator = IntrusivePtr<GeneratorImpl>;

// A generator on the CPU with the given seed.
Generator make_cpu_generator(uint64_t seed);
// The process-wide one, seeded with 0 at start-up so that runs repeat. Thread-safe to get.
Generator default_cpu_generator();

}  // namespace sb

#endif  // SWITCHBOARD_CORE_GENERATOR_H_
