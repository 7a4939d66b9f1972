// Random number generators: state on a device, what schemas call `Generator`.

#ifndef SWITCHBOARD_CORE_GENERATOR_H_
#define SWITCHBOARD_CORE_GENERATOR_H_

#include <cstdint>
#include <mutex>

#include "switchboard/core/device.h"
#include "switchboard/core/intrusive_ptr.h"

namespace sb {

// As `c10::GeneratorImpl`. Users hold `mutex` while they draw.
class GeneratorImpl : public IntrusiveTarget {
 public:
  explicit GeneratorImpl(Device device) : device_(device) {}
  Device device() const { return device_; }
  virtual void set_seed(uint64_t seed) = 0;
  virtual uint64_t seed() const = 0;
  // 64 random bits.
  virtual uint64_t next() = 0;

  std::mutex mutex;

 private:
  Device device_;
};

using Generator = IntrusivePtr<GeneratorImpl>;

// A Mersenne Twister on the CPU with the given seed.
Generator make_cpu_generator(uint64_t seed);
// The process-wide one, seeded with 0 at start-up so that runs repeat. Thread-safe to get.
Generator default_cpu_generator();

}  // namespace sb

#endif  // SWITCHBOARD_CORE_GENERATOR_H_
