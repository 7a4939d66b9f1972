#include "switchboard/ops/indexing/triangles.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/strided_walk.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

// The columns [first, second) of row `row` that belong to the triangle.
std::pair<int64_t, int64_t> columns(bool lower, int64_t row, int64_t cols, int64_t diagonal) {
  // No diagonal is further away than the matrix is wide or high.
  int64_t edge;
  if (__builtin_add_overflow(row, diagonal, &edge)) edge = diagonal;
  if (lower) return {0, edge >= cols ? cols : std::max<int64_t>(edge + 1, 0)};
  return {std::clamp<int64_t>(edge, 0, cols), cols};
}

int64_t saturating_sub(int64_t a, int64_t b) {
  int64_t result;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return b > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// The sum of n whole numbers that follow each other, from `first` on.
int64_t sum_from(int64_t first, int64_t n) {
  return n == 0 ? 0 : checked_add(checked_mul(n, first), checked_mul(n, n - 1) / 2);
}

// The rows [begin, end) of a triangle that have columns, and how many elements it has. There may be
// more rows than could be counted one by one.
struct Extent {
  int64_t begin, end, count;
};
Extent extent(bool lower, int64_t rows, int64_t cols, int64_t diagonal) {
  if (cols == 0) return {0, 0, 0};
  if (lower) {
    const int64_t begin = std::clamp<int64_t>(saturating_sub(0, diagonal), 0, rows);
    const int64_t full = std::clamp<int64_t>(saturating_sub(cols - 1, diagonal), begin, rows);
    const int64_t growing = full == begin ? 0 : sum_from(begin + diagonal + 1, full - begin);
    return {begin, rows, checked_add(growing, checked_mul(rows - full, cols))};
  }
  const int64_t end = std::clamp<int64_t>(saturating_sub(cols, diagonal), 0, rows);
  const int64_t shrinking = std::clamp<int64_t>(saturating_sub(1, diagonal), 0, end);
  const int64_t rest =
      shrinking == end ? 0 : sum_from(cols - (end - 1) - diagonal, end - shrinking);
  return {0, end, checked_add(rest, checked_mul(shrinking, cols))};
}

template <SizeType Int, bool lower>
BasicTensorMeta<Int> triangle_rule(const Tensor& self, const SymInt&) {
  SB_CHECK(self.dim() >= 2, lower ? "tril" : "triu", ": expected matrices, got ", self.describe());
  return {size_vector<Int>(self), self.dtype()};
}
// `out` holds self's elements.
template <bool lower>
void triangle_kernel(const Tensor&, const SymInt& symbolic_diagonal, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t diagonal = symbolic_diagonal.expect_int();
  DimVector sizes(out.sizes().begin(), out.sizes().end());
  DimVector strides = broadcast_byte_strides(out, out.sizes());
  const int64_t cols = sizes.back(), col_stride = strides.back();
  sizes.pop_back();
  strides.pop_back();
  const int64_t rows = sizes.back(), row_stride = strides.back();
  sizes.pop_back();
  strides.pop_back();
  const size_t itemsize = out.itemsize();
  const auto clear = [&](char* row, int64_t from, int64_t to) {
    if (from >= to) return;
    if (col_stride == static_cast<int64_t>(itemsize)) {
      std::memset(row + from * col_stride, 0, static_cast<size_t>(to - from) * itemsize);
      return;
    }
    for (int64_t c = from; c < to; ++c) std::memset(row + c * col_stride, 0, itemsize);
  };
  strided_walk<1>(sizes, {strides}, {static_cast<char*>(out.data_ptr())},
                  [&](std::array<char*, 1> at, const std::array<int64_t, 1>& stride, int64_t n) {
                    for (int64_t i = 0; i < n; ++i, at[0] += stride[0]) {
                      for (int64_t r = 0; r < rows; ++r) {
                        const auto [from, to] = columns(lower, r, cols, diagonal);
                        clear(at[0] + r * row_stride, 0, from);
                        clear(at[0] + r * row_stride, to, cols);
                      }
                    }
                  });
}

template <bool lower>
Tensor indices_kernel(int64_t rows, int64_t cols, int64_t offset, std::optional<DType> dtype,
                      std::optional<Layout> layout, std::optional<Device> device,
                      std::optional<bool> pin_memory) {
  constexpr const char* op = lower ? "tril_indices" : "triu_indices";
  SB_CHECK(rows >= 0, op, ": row: ", rows, " is negative");
  SB_CHECK(cols >= 0, op, ": col: ", cols, " is negative");
  const DType type = dtype.value_or(DType::Int64);
  SB_CHECK_NOT_IMPLEMENTED(type == DType::Int64 || type == DType::Int32, op,
                           ": not implemented for ", to_string(type));
  const auto [begin, end, count] = extent(lower, rows, cols, offset);
  const Device target = device.value_or(Device(DeviceType::CPU));
  if (target.is_meta()) return empty({2, count}, type, layout, target, pin_memory);
  const Tensor places = empty_on(Device(DeviceType::CPU), {2, count}, DType::Int64);
  int64_t* to_row = places.data<int64_t>();
  int64_t* to_col = to_row + count;
  for (int64_t r = begin; r < end; ++r) {
    const auto [from, to] = columns(lower, r, cols, offset);
    for (int64_t c = from; c < to; ++c) {
      *to_row++ = r;
      *to_col++ = c;
    }
  }
  return sb::to(places, type, layout, target, pin_memory);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  constexpr StructuredOptions options = {.from_self = true};
  define(m, tril)
      .structured<by_size_rule<triangle_rule<int64_t, true>, triangle_rule<SymInt, true>>,
                  triangle_kernel<true>>(options)
      .inplace(tril_)
      .out(tril_out);
  define(m, triu)
      .structured<by_size_rule<triangle_rule<int64_t, false>, triangle_rule<SymInt, false>>,
                  triangle_kernel<false>>(options)
      .inplace(triu_)
      .out(triu_out);

  define(m, tril_indices).composite_explicit(indices_kernel<true>).out("out");
  define(m, triu_indices).composite_explicit(indices_kernel<false>).out("out");
}

}  // namespace sb
