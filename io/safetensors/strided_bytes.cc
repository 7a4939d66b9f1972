#include "switchboard/io/safetensors/strided_bytes.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace sb::io {
namespace {

// Calls `row(place, stride, count)` for each row of the last dimension, in elements, until one
// returns false.
template <class Row>
bool for_each_row(const StridedElements& elements, Row&& row) {
  const auto [sizes, strides] = std::pair(elements.sizes, elements.strides);
  if (std::ranges::find(sizes, 0) != sizes.end()) return true;
  if (sizes.empty()) return row(elements.offset, int64_t{0}, int64_t{1});
  const size_t last = sizes.size() - 1;
  std::vector<int64_t> position(last, 0);
  int64_t place = elements.offset;
  for (;;) {
    if (!row(place, strides[last], sizes[last])) return false;
    size_t d = last;
    for (; d > 0; --d) {
      if (++position[d - 1] < sizes[d - 1]) {
        place += strides[d - 1];
        break;
      }
      place -= strides[d - 1] * (sizes[d - 1] - 1);  // a dimension of one may have any stride
      position[d - 1] = 0;
    }
    if (d == 0) return true;
  }
}

// Calls f with the item size as a constant, so that copies of one element are one instruction.
template <class F>
auto with_itemsize(size_t itemsize, F&& f) {
  switch (itemsize) {
    case 1:
      return f(std::integral_constant<size_t, 1>());
    case 2:
      return f(std::integral_constant<size_t, 2>());
    case 4:
      return f(std::integral_constant<size_t, 4>());
    case 8:
      return f(std::integral_constant<size_t, 8>());
    default:
      return f(std::integral_constant<size_t, 16>());
  }
}

}  // namespace

std::vector<int64_t> contiguous_strides(absl::Span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

void scatter(const StridedElements& elements, const char* rows, char* memory) {
  with_itemsize(elements.itemsize, [&](auto constant) {
    constexpr int64_t kItem = decltype(constant)::value;
    for_each_row(elements, [&](int64_t place, int64_t stride, int64_t count) {
      if (stride == 1) {
        std::memcpy(memory + place * kItem, rows, static_cast<size_t>(count * kItem));
      } else {
        for (int64_t i = 0; i < count; ++i)
          std::memcpy(memory + (place + i * stride) * kItem, rows + i * kItem, kItem);
      }
      rows += count * kItem;
      return true;
    });
  });
}

bool are_scattered(const StridedElements& elements, const char* rows, const char* memory) {
  return with_itemsize(elements.itemsize, [&](auto constant) {
    constexpr int64_t kItem = decltype(constant)::value;
    return for_each_row(elements, [&](int64_t place, int64_t stride, int64_t count) {
      const char* const row = std::exchange(rows, rows + count * kItem);
      if (stride == 1)
        return std::memcmp(memory + place * kItem, row, static_cast<size_t>(count * kItem)) == 0;
      for (int64_t i = 0; i < count; ++i)
        if (std::memcmp(memory + (place + i * stride) * kItem, row + i * kItem, kItem) != 0)
          return false;
      return true;
    });
  });
}

}  // namespace sb::io
