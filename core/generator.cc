#include "switchboard/core/generator.h"

#include <random>

namespace sb {
namespace {

// Draws the same numbers as PyTorch's CPU generator with the same seed: `at::mt19937` keeps the low
// 32 bits of a seed, and 64 bits are two draws, the first one high.
class CpuGenerator final : public GeneratorImpl {
 public:
  explicit CpuGenerator(uint64_t seed) : GeneratorImpl(DeviceType::CPU) { set_seed(seed); }

  void set_seed(uint64_t seed) override {
    seed_ = seed;
    engine_.seed(static_cast<uint32_t>(seed));
  }
  uint64_t seed() const override { return seed_; }
  uint64_t next() override {
    const uint64_t high = engine_();
    const uint64_t low = engine_();
    return high << 32 | low;
  }

 private:
  uint64_t seed_;
  std::mt19937 engine_;
};

}  // namespace

Generator make_cpu_generator(uint64_t seed) { return make_intrusive<CpuGenerator>(seed); }

Generator default_cpu_generator() {
  static const Generator& generator = *new Generator(make_cpu_generator(0));  // never destroyed
  return generator;
}

}  // namespace sb
