#include <new>
#include <stdexcept>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/size_text.h"
#include "switchboard/ops/shape/tensor_parts.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Cuts `self` into consecutive parts along one dimension.
template <SizeType Int>
class Cutter {
 public:
  Cutter(const Tensor& self, int64_t dim)
      : self_(self),
        dim_(static_cast<size_t>(dim)),
        sizes_(sizes_of<Int>(self).begin(), sizes_of<Int>(self).end()),
        offset_(storage_offset_of<Int>(self)) {}

  Tensor next(const Int& length) {
    sizes_[dim_] = length;
    const SizesRef<Int> strides = strides_of<Int>(self_);
    const Tensor part = alias_of_shape(self_, sizes_, strides, offset_);
    offset_ = sum_of(offset_, product_of(length, strides[dim_]));
    return part;
  }

 private:
  const Tensor& self_;
  size_t dim_;
  SizeVector<Int> sizes_;
  Int offset_;
};

void check_has_dims(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK(self.dim() > 0, op, ": expected at least one dimension, got ", self.describe());
}

std::vector<Tensor> unbind_kernel(const Tensor& self, int64_t dim) {
  check_defined("unbind", self);
  SB_CHECK_INDEX(self.dim() > 0, "unbind: ", self.describe(), " has no dimensions");
  const int64_t d = wrap_dim("unbind", dim, self.dim());
  const int64_t count = guard_int(self.sym_size(d));
  std::vector<Tensor> parts = make_parts("unbind", count);
  for (int64_t i = 0; i < count; ++i) parts.push_back(select(self, d, i));
  return parts;
}

template <SizeType Int>
std::vector<Tensor> split_into(const Tensor& self, const Int& split_size, int64_t dim) {
  SB_CHECK(split_size >= 0, "split: split_size is negative: ", size_text(split_size));
  const int64_t d = wrap_dim("split", dim, self.dim());
  const Int& size = sizes_of<Int>(self)[static_cast<size_t>(d)];
  SB_CHECK(split_size > 0 || size == 0, "split: split_size is 0, dimension ", dim, " of ",
           self.describe(), " is not");
  // How many parts there are is a number, or there would be no list of them.
  const int64_t count = same_size(size, Int(0)) ? 1 : guard_int((size - 1) / split_size + 1);
  std::vector<Tensor> parts = make_parts("split", count);
  Cutter<Int> cutter(self, d);
  Int left = size;
  for (int64_t i = 0; i < count; ++i) {
    const Int length = i + 1 < count ? split_size : left;
    parts.push_back(cutter.next(length));
    left = left - length;
  }
  return parts;
}
std::vector<Tensor> split_kernel(const Tensor& self, const SymInt& split_size, int64_t dim) {
  check_has_dims("split", self);
  return by_size(any_symbolic(self, split_size),
                 [&]<class Int>() { return split_into<Int>(self, size_as<Int>(split_size), dim); });
}

template <SizeType Int>
std::vector<Tensor> split_with(const Tensor& self, SizesRef<Int> split_sizes, int64_t dim) {
  const int64_t d = wrap_dim("split_with_sizes", dim, self.dim());
  Int left = sizes_of<Int>(self)[static_cast<size_t>(d)];
  for (const Int& length : split_sizes) {
    SB_CHECK(length >= 0, "split_with_sizes: split_sizes ", shape_text(split_sizes),
             " has a negative entry");
    SB_CHECK(length <= left, "split_with_sizes: split_sizes ", shape_text(split_sizes),
             " have a sum above the size of dimension ", dim, " of ", self.describe());
    left = left - length;
  }
  SB_CHECK(left == 0, "split_with_sizes: split_sizes ", shape_text(split_sizes),
           " have a sum below the size of dimension ", dim, " of ", self.describe());
  std::vector<Tensor> parts =
      make_parts("split_with_sizes", static_cast<int64_t>(split_sizes.size()));
  Cutter<Int> cutter(self, d);
  for (const Int& length : split_sizes) parts.push_back(cutter.next(length));
  return parts;
}
std::vector<Tensor> split_with_sizes_kernel(const Tensor& self, SymIntArrayRef split_sizes,
                                            int64_t dim) {
  check_has_dims("split_with_sizes", self);
  return by_size(any_symbolic(self, split_sizes), [&]<class Int>() {
    return split_with<Int>(self, sizes_as<Int>(split_sizes), dim);
  });
}

std::vector<Tensor> chunk_kernel(const Tensor& self, int64_t chunks, int64_t dim) {
  check_has_dims("chunk", self);
  SB_CHECK(chunks > 0, "chunk: chunks is not positive: ", chunks);
  const SymInt size = self.sym_size(wrap_dim("chunk", dim, self.dim()));
  if (!same_size(size, SymInt(0))) return split(self, (size - 1) / chunks + 1, dim);
  // As many as asked for, though each is empty.
  make_parts("chunk", chunks);  // throws if there cannot be so many
  const std::vector<int64_t> zeros(static_cast<size_t>(chunks));
  return split_with_sizes(self, zeros, dim);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, unbind).view(unbind_kernel);
  define(m, split).view(split_kernel);
  define(m, split_with_sizes).view(split_with_sizes_kernel);
  define(m, split_sizes).composed([](const Tensor& self, SymIntArrayRef split_size, int64_t dim) {
    return split_with_sizes(self, split_size, dim);
  });
  define(m, chunk).composed(chunk_kernel);
}

}  // namespace sb
