#include "switchboard/io/recording/wire.h"

namespace sb::io::wire {
namespace {

constexpr uint64_t kOdd[] = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0xaef17502108ef2d9,
                             0xdb4f0b9175ae2165};

// Both halves of a product, in one.
uint64_t fold(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t load(const unsigned char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

}  // namespace

uint64_t hash_bytes(const void* data, size_t bytes) {
  const unsigned char* p = static_cast<const unsigned char*>(data);
  uint64_t lanes[4] = {kOdd[0] ^ bytes, kOdd[1], kOdd[2], kOdd[3]};
  size_t left = bytes;
  // Four at a time, as a multiplication takes three cycles. Each word is added before and after a
  // product, so that a lane that is zero once does not stay so.
  for (; left >= 32; left -= 32, p += 32)
    for (int i = 0; i < 4; ++i) {
      const uint64_t w = load(p + 8 * i);
      lanes[i] = fold(lanes[i] ^ w, kOdd[i]) + w;
    }
  for (int i = 0; left > 0; i = (i + 1) % 4) {
    unsigned char word[8] = {};
    const size_t n = left < 8 ? left : 8;
    std::memcpy(word, p, n);
    const uint64_t w = load(word);
    lanes[i] = fold(lanes[i] ^ w, kOdd[i]) + w;
    p += n;
    left -= n;
  }
  uint64_t hash = bytes;
  for (int i = 0; i < 4; ++i) hash = fold(hash ^ lanes[i], kOdd[i] ^ 0x5851f42d4c957f2d) + lanes[i];
  return hash == 0 ? 1 : hash;
}

}  // namespace sb::io::wire
