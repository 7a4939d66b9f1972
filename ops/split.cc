#include <algorithm>
#include <new>
#include <stdexcept>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

// Room for so many parts. A caller can ask for more than memory holds.
std::vector<Tensor> make_parts(const char* op, int64_t count) {
  std::vector<Tensor> parts;
  try {
    parts.reserve(static_cast<size_t>(count));
  } catch (const std::exception&) {
    SB_THROW(RuntimeError, op, ": not enough memory for ", count, " tensors");
  }
  return parts;
}

// Cuts `self` into consecutive parts along one dimension.
class Cutter {
 public:
  Cutter(const Tensor& self, int64_t dim)
      : self_(self),
        dim_(static_cast<size_t>(dim)),
        sizes_(self.sizes().begin(), self.sizes().end()),
        offset_(self.storage_offset()) {}

  Tensor next(int64_t length) {
    sizes_[dim_] = length;
    const Tensor part = alias_with_unchecked(self_, sizes_, self_.strides(), offset_);
    offset_ = checked_add(offset_, checked_mul(length, self_.strides()[dim_]));
    return part;
  }

 private:
  const Tensor& self_;
  size_t dim_;
  DimVector sizes_;
  int64_t offset_;
};

void check_has_dims(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK(self.dim() > 0, op, ": expected at least one dimension, got ", self.describe());
}

std::vector<Tensor> unbind_kernel(const Tensor& self, int64_t dim) {
  check_defined("unbind", self);
  SB_CHECK_INDEX(self.dim() > 0, "unbind: ", self.describe(), " has no dimensions");
  const int64_t d = wrap_dim("unbind", dim, self.dim());
  std::vector<Tensor> parts = make_parts("unbind", self.size(d));
  for (int64_t i = 0; i < self.size(d); ++i) parts.push_back(select(self, d, i));
  return parts;
}

std::vector<Tensor> split_kernel(const Tensor& self, int64_t split_size, int64_t dim) {
  check_has_dims("split", self);
  SB_CHECK(split_size >= 0, "split: split_size is negative: ", split_size);
  const int64_t d = wrap_dim("split", dim, self.dim());
  const int64_t size = self.size(d);
  SB_CHECK(split_size > 0 || size == 0, "split: split_size is 0, dimension ", dim, " of ",
           self.describe(), " is not");
  const int64_t count = size == 0 ? 1 : (size - 1) / split_size + 1;
  std::vector<Tensor> parts = make_parts("split", count);
  Cutter cutter(self, d);
  int64_t left = size;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = std::min(split_size, left);
    parts.push_back(cutter.next(length));
    left -= length;
  }
  return parts;
}

std::vector<Tensor> split_with_sizes_kernel(const Tensor& self, IntArrayRef split_sizes,
                                            int64_t dim) {
  check_has_dims("split_with_sizes", self);
  const int64_t d = wrap_dim("split_with_sizes", dim, self.dim());
  int64_t left = self.size(d);
  for (int64_t length : split_sizes) {
    SB_CHECK(length >= 0, "split_with_sizes: split_sizes ", shape_text(split_sizes),
             " has a negative entry");
    SB_CHECK(length <= left, "split_with_sizes: split_sizes ", shape_text(split_sizes),
             " have a sum above the size of dimension ", dim, " of ", self.describe());
    left -= length;
  }
  SB_CHECK(left == 0, "split_with_sizes: split_sizes ", shape_text(split_sizes),
           " have a sum below the size of dimension ", dim, " of ", self.describe());
  std::vector<Tensor> parts =
      make_parts("split_with_sizes", static_cast<int64_t>(split_sizes.size()));
  Cutter cutter(self, d);
  for (int64_t length : split_sizes) parts.push_back(cutter.next(length));
  return parts;
}

std::vector<Tensor> chunk_kernel(const Tensor& self, int64_t chunks, int64_t dim) {
  check_has_dims("chunk", self);
  SB_CHECK(chunks > 0, "chunk: chunks is not positive: ", chunks);
  const int64_t size = self.size(wrap_dim("chunk", dim, self.dim()));
  if (size != 0) return split(self, (size - 1) / chunks + 1, dim);
  // As many as asked for, though each is empty.
  std::vector<int64_t> zeros;
  try {
    zeros.resize(static_cast<size_t>(chunks));
  } catch (const std::exception&) {
    SB_THROW(RuntimeError, "chunk: not enough memory for ", chunks, " tensors");
  }
  return split_with_sizes(self, zeros, dim);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(unbind);
  m.impl(unbind, DispatchKey::CompositeExplicitAutograd, unbind_kernel);
  m.define(split);
  m.impl(split, DispatchKey::CompositeExplicitAutograd, split_kernel);
  m.define(split_with_sizes);
  m.impl(split_with_sizes, DispatchKey::CompositeExplicitAutograd, split_with_sizes_kernel);
  m.define(split_sizes);
  m.impl(split_sizes, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& self, SymIntArrayRef split_size, int64_t dim) {
           return split_with_sizes(self, split_size, dim);
         });
  m.define(chunk);
  m.impl(chunk, DispatchKey::CompositeImplicitAutograd, chunk_kernel);
}

}  // namespace sb
