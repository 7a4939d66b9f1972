#include "switchboard/core/philox.h"

#include "Random123/philox.h"

namespace sb {

void philox(uint64_t seed, uint64_t first, uint64_t substream, absl::Span<PhiloxBlock> blocks) {
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  const auto join = [](uint32_t l, uint32_t h) { return uint64_t{h} << 32 | l; };
  const r123::Philox4x32::key_type key = {{low(seed), high(seed)}};
  for (PhiloxBlock& block : blocks) {
    const r123::Philox4x32::ctr_type counter = {
        {low(first), high(first), low(substream), high(substream)}};
    const auto bits = r123::Philox4x32()(counter, key);
    block = {join(bits[0], bits[1]), join(bits[2], bits[3])};
    ++first;
  }
}

}  // namespace sb
