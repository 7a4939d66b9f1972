#include "switchboard/ops/sorting/sort_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/ops/cpu/cast.h"

namespace sb {
namespace {

constexpr SortKey kSign = SortKey{1} << 63;

SortKey key_of(int64_t v) { return static_cast<SortKey>(v) ^ kSign; }
SortKey key_of(double v) {
  if (v != v) return kNanKey;
  const SortKey bits = std::bit_cast<SortKey>(v + 0.0);  // makes 0 of -0
  return bits & kSign ? ~bits : bits | kSign;
}

// Integers are exact in int64, floating-point elements in double.
template <class Wide, class F>
void for_each_key(DType dtype, const Row& row, F f) {
  constexpr int64_t kChunk = 256;
  const CastFunction cast = cast_function(dtype, dtype_of<Wide>);
  Wide chunk[kChunk];
  for (int64_t begin = 0; begin < row.size; begin += kChunk) {
    const int64_t n = std::min(kChunk, row.size - begin);
    cast(reinterpret_cast<char*>(chunk), sizeof(Wide), row.at(begin), row.step, n);
    for (int64_t i = 0; i < n; ++i) f(begin + i, key_of(chunk[i]));
  }
}
template <class F>
void for_each_key(DType dtype, const Row& row, F f) {
  SB_ASSERT(has_sort_keys(dtype));
  if (is_floating_point(dtype)) {
    for_each_key<double>(dtype, row, f);
  } else {
    for_each_key<int64_t>(dtype, row, f);
  }
}

// Sorts by digits, the lowest first. Digits that all keys share cost nothing, and so float32 and
// small integers need few passes.
void radix_sort(std::vector<Keyed>* keys, std::vector<Keyed>* spare) {
  constexpr int kBits = 8;
  constexpr int kDigits = 64 / kBits;
  std::array<std::array<size_t, 1 << kBits>, kDigits> counts{};
  for (const Keyed& k : *keys) {
    for (int d = 0; d < kDigits; ++d) ++counts[d][k.key >> (d * kBits) & 0xff];
  }
  spare->resize(keys->size());
  for (int d = 0; d < kDigits; ++d) {
    const auto digit = [d](const Keyed& k) { return k.key >> (d * kBits) & 0xff; };
    if (counts[d][digit(keys->front())] == keys->size()) continue;
    size_t begin = 0;
    for (size_t& count : counts[d]) begin += std::exchange(count, begin);
    for (const Keyed& k : *keys) (*spare)[counts[d][digit(k)]++] = k;
    keys->swap(*spare);
  }
}

}  // namespace

void read_keys(DType dtype, const Row& row, std::vector<Keyed>* keys) {
  keys->resize(static_cast<size_t>(row.size));
  for_each_key(dtype, row, [keys](int64_t i, SortKey key) {
    (*keys)[static_cast<size_t>(i)] = {key, i};
  });
}
void read_keys(DType dtype, const Row& row, std::vector<SortKey>* keys) {
  keys->resize(static_cast<size_t>(row.size));
  for_each_key(dtype, row,
               [keys](int64_t i, SortKey key) { (*keys)[static_cast<size_t>(i)] = key; });
}

void sort_keys(std::vector<Keyed>* keys, bool descending, std::vector<Keyed>* spare) {
  constexpr size_t kFewEnoughToCompare = 256;
  if (descending) {
    for (Keyed& k : *keys) k.key = ~k.key;
  }
  if (keys->size() <= kFewEnoughToCompare) {
    std::sort(keys->begin(), keys->end(), [](const Keyed& a, const Keyed& b) {
      return a.key != b.key ? a.key < b.key : a.index < b.index;
    });
  } else {
    radix_sort(keys, spare);
  }
  if (descending) {
    for (Keyed& k : *keys) k.key = ~k.key;
  }
}

void copy_element(size_t itemsize, const Row& to, int64_t to_index, const Row& from,
                  int64_t index) {
  std::memcpy(to.at(to_index), from.at(index), itemsize);
}

}  // namespace sb
