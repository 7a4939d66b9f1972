// A hash that is the same in every process: what ranks compare before they exchange data.

#ifndef SWITCHBOARD_DISTRIBUTED_DIGEST_H_
#define SWITCHBOARD_DISTRIBUTED_DIGEST_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sb {

// FNV-1a over words, mixed at the end. absl::Hash has another seed in each process.
class Digest {
 public:
  void add(int64_t word) { state_ = (state_ ^ static_cast<uint64_t>(word)) * kPrime + 1; }
  // With its length, so that "ab", "c" is not "a", "bc".
  void add(std::string_view text) {
    add(static_cast<int64_t>(text.size()));
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(int64_t)))) {
      int64_t word = 0;
      std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
      add(word);
    }
  }
  uint64_t value() const {
    uint64_t x = state_;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
  }

 private:
  static constexpr uint64_t kPrime = 0x100000001b3u;
  uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_DIGEST_H_
