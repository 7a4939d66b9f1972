#include "switchboard/ops/indexing/flip.h"

#include <algorithm>
#include <cstdlib>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/indexed_walk.h"
#include "switchboard/ops/indexing/strided_walk.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/symbolic_operands.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The meta of empty_like.
template <SizeType Int>
BasicTensorMeta<Int> meta_like(const Tensor& self) {
  if constexpr (std::same_as<Int, SymInt>) {
    return {size_vector<Int>(self), self.dtype(), internal::dense_strides_like(self)};
  } else {
    return {size_vector<Int>(self), self.dtype(), empty_like_strides(self)};
  }
}

// Copies n elements that lie side by side, in order or from the last to the first.
template <class T>
void copy_row(char* to, const char* from, int64_t n, bool reversed) {
  auto* const target = reinterpret_cast<T*>(to);
  const auto* const source = reinterpret_cast<const T*>(from);
  if (reversed) {
    std::reverse_copy(source - n + 1, source + 1, target);
  } else {
    std::copy_n(source, n, target);
  }
}
using CopyRow = void (*)(char* to, const char* from, int64_t n, bool reversed);
CopyRow copy_row_of(size_t itemsize) {
  switch (itemsize) {
    case 1:
      return copy_row<uint8_t>;
    case 2:
      return copy_row<uint16_t>;
    case 4:
      return copy_row<uint32_t>;
    case 8:
      return copy_row<uint64_t>;
    default:
      return nullptr;
  }
}

// The same as copy_strided, of elements whose last dimension lies in one piece in both.
void copy_rows(const DimVector& sizes, char* to, const DimVector& to_strides, const char* from,
               const DimVector& from_strides, CopyRow copy) {
  const size_t last = sizes.size() - 1;
  int64_t rows = 1;
  for (size_t d = 0; d < last; ++d) rows *= sizes[d];
  const int64_t grain = std::max<int64_t>(1, kElementGrain / sizes[last]);
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, to_offset = 0, from_offset = 0;
      for (size_t d = last; d-- > 0; rest /= sizes[d]) {
        to_offset += rest % sizes[d] * to_strides[d];
        from_offset += rest % sizes[d] * from_strides[d];
      }
      copy(to + to_offset, from + from_offset, sizes[last], from_strides[last] < 0);
    }
  });
}

// Copies elements of `itemsize` bytes; strides are in bytes and may be negative.
void copy_strided(const DimVector& sizes, char* to, const DimVector& to_strides, char* from,
                  const DimVector& from_strides, size_t itemsize) {
  const auto step = static_cast<int64_t>(itemsize);
  const CopyRow copy = copy_row_of(itemsize);
  if (copy && !sizes.empty() && sizes.back() >= 16 && to_strides.back() == step &&
      std::abs(from_strides.back()) == step) {
    return copy_rows(sizes, to, to_strides, from, from_strides, copy);
  }
  static constexpr int64_t kZero = 0;
  IndexedWalk walk;
  walk.sizes = sizes;
  walk.table_strides = from_strides;
  walk.index_strides.assign(sizes.size(), 0);
  walk.other_strides = to_strides;
  walk.table = from;
  walk.index = &kZero;
  walk.other = to;
  run_indexed(walk, read_loop(itemsize));
}

template <SizeType Int>
BasicTensorMeta<Int> flip_rule(const Tensor& self, IntArrayRef dims) {
  dim_set("flip", dims, self.dim());
  return meta_like<Int>(self);
}
void flip_kernel(const Tensor& self, IntArrayRef dims, const Tensor& out) {
  if (self.numel() == 0) return;
  const DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector from = broadcast_byte_strides(self, self.sizes());
  char* data = static_cast<char*>(self.data_ptr());
  const DimSet flipped = dim_set("flip", dims, self.dim());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!flipped[d]) continue;
    data += (sizes[d] - 1) * from[d];
    from[d] = -from[d];
  }
  copy_strided(sizes, static_cast<char*>(out.data_ptr()), broadcast_byte_strides(out, out.sizes()),
               data, from, self.itemsize());
}

Tensor fliplr_kernel(const Tensor& self) {
  check_defined("fliplr", self);
  SB_CHECK(self.dim() >= 2, "fliplr: expected at least 2 dimensions, got ", self.describe());
  return flip(self, {1});
}
Tensor flipud_kernel(const Tensor& self) {
  check_defined("flipud", self);
  SB_CHECK(self.dim() >= 1, "flipud: expected at least 1 dimension, got ", self.describe());
  return flip(self, {0});
}

Tensor rot90_kernel(const Tensor& self, int64_t k, IntArrayRef dims) {
  check_defined("rot90", self);
  SB_CHECK(dims.size() == 2, "rot90: dims: expected 2, got ", shape_text(dims));
  const int64_t rank = self.dim();
  SB_CHECK(rank >= 2, "rot90: expected at least 2 dimensions, got ", self.describe());
  for (int64_t d : dims) {
    SB_CHECK(d >= -rank && d < rank, "rot90: dims: ", d, " is no dimension of ", self.describe());
  }
  const int64_t first = wrap_dim("rot90", dims[0], rank), second = wrap_dim("rot90", dims[1], rank);
  SB_CHECK(first != second, "rot90: dims: expected two dimensions, got ", shape_text(dims));
  switch (((k % 4) + 4) % 4) {
    case 1:
      return transpose_(flip(self, {second}), first, second);
    case 2:
      return flip(self, dims);
    case 3:
      return transpose_(flip(self, {first}), first, second);
    default:
      return clone(self, MemoryFormat::Contiguous);
  }
}

template <SizeType Int>
BasicTensorMeta<Int> roll_rule(const Tensor& self, SymIntArrayRef shifts, IntArrayRef dims) {
  SB_CHECK(!shifts.empty(), "roll: shifts: expected at least one");
  const bool flat = dims.empty() && shifts.size() == 1;
  SB_CHECK(flat || dims.size() == shifts.size(), "roll: expected as many shifts as dims, got ",
           shape_text(shifts), " and ", shape_text(dims));
  // As PyTorch, which clones an empty tensor, whatever the dimensions are.
  if (!flat && same_size(numel_of<Int>(self), Int(0))) return meta_like<Int>(self);
  for (int64_t d : dims) (void)self.sym_size(d);  // refuses one that self has not
  return {size_vector<Int>(self), self.dtype()};
}

// Copies self to `out` with dimension d moved on by shifts[d], for those from d on.
void roll_from(size_t d, DimVector sizes, const DimVector& shifts, char* from,
               const DimVector& from_strides, char* to, const DimVector& to_strides,
               size_t itemsize) {
  while (d < shifts.size() && shifts[d] == 0) ++d;
  if (d == shifts.size()) {
    copy_strided(sizes, to, to_strides, from, from_strides, itemsize);
    return;
  }
  const int64_t size = sizes[d], shift = shifts[d];
  sizes[d] = size - shift;
  roll_from(d + 1, sizes, shifts, from, from_strides, to + shift * to_strides[d], to_strides,
            itemsize);
  sizes[d] = shift;
  roll_from(d + 1, sizes, shifts, from + (size - shift) * from_strides[d], from_strides, to,
            to_strides, itemsize);
}
void roll_kernel(const Tensor& self, SymIntArrayRef given, IntArrayRef dims, const Tensor& out) {
  if (self.numel() == 0) return;
  const IntArrayRef shifts = given.expect_ints();
  const bool flat = dims.empty();
  const Tensor from = flat && !self.is_contiguous() ? cast_copy(self, self.dtype()) : self;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector from_strides = broadcast_byte_strides(from, from.sizes());
  DimVector to_strides = broadcast_byte_strides(out, out.sizes());
  if (flat) {
    sizes = {self.numel()};
    from_strides = to_strides = {static_cast<int64_t>(self.itemsize())};
  }
  DimVector total(sizes.size(), 0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const size_t d = flat ? 0 : static_cast<size_t>(wrap_dim("roll", dims[i], self.dim()));
    const int64_t shift = shifts[i] % sizes[d];
    total[d] = (total[d] + (shift < 0 ? shift + sizes[d] : shift)) % sizes[d];
  }
  roll_from(0, sizes, total, static_cast<char*>(from.data_ptr()), from_strides,
            static_cast<char*>(out.data_ptr()), to_strides, self.itemsize());
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, flip)
      .structured<by_size_rule<flip_rule<int64_t>, flip_rule<SymInt>>, flip_kernel>()
      .out(flip_out, kCopiedOut);
  define(m, fliplr).composed(fliplr_kernel);
  define(m, flipud).composed(flipud_kernel);
  define(m, rot90).composite_explicit(rot90_kernel).out(rot90_out);
  define(m, roll)
      .structured<by_size_rule<roll_rule<int64_t>, roll_rule<SymInt>>, roll_kernel>()
      .out(roll_out, kCopiedOut);
}

}  // namespace sb
