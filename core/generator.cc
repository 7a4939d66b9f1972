#include "switchboard/core/generator.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/philox.h"

namespace sb {
namespace {

// The seed and the offset, lowest byte first.
constexpr size_t kStateBytes = 16;

}  // namespace

PhiloxState GeneratorImpl::take(uint64_t blocks) {
  const PhiloxState here = state_;
  state_.offset += blocks;
  return here;
}

std::vector<uint8_t> GeneratorImpl::state() const {
  std::vector<uint8_t> bytes;
  for (uint64_t word : {state_.seed, state_.offset}) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  return bytes;
}

void GeneratorImpl::set_state(absl::Span<const uint8_t> state) {
  SB_CHECK_VALUE(state.size() == kStateBytes, "set_state: expected the ", kStateBytes,
                 " bytes of a generator's state, got ", state.size(), " bytes");
  const auto word = [&](size_t at) {
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;) value = value << 8 | state[at + i];
    return value;
  };
  state_ = {word(0), word(8)};
}

uint64_t GeneratorImpl::next() {
  const PhiloxState here = take(1);
  PhiloxBlock block;
  philox(here.seed, here.offset, 0, absl::MakeSpan(&block, 1));
  return block.low;
}

Generator make_cpu_generator(uint64_t seed) {
  return make_intrusive<GeneratorImpl>(DeviceType::CPU, seed);
}

Generator default_cpu_generator() {
  static const Generator& generator = *new Generator(make_cpu_generator(0));  // never destroyed
  return generator;
}

}  // namespace sb
