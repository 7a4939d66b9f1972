#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/item.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

Tensor select_kernel(const Tensor& self, int64_t dim, int64_t index) {
  check_defined("select", self);
  SB_CHECK_INDEX(self.dim() > 0, "select: ", self.describe(), " has no dimensions");
  const int64_t d = wrap_dim("select", dim, self.dim());
  const int64_t size = self.size(d);
  SB_CHECK_INDEX(index >= -size && index < size, "select: index ", index,
                 " is out of range at dimension ", d, " of ", self.describe());
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  const int64_t at = index < 0 ? index + size : index;
  const int64_t offset = checked_add(self.storage_offset(), checked_mul(at, self.stride(d)));
  return alias_with_unchecked(self, sizes, strides, offset);
}

Tensor slice_kernel(const Tensor& self, int64_t dim, std::optional<int64_t> start,
                    std::optional<int64_t> end, int64_t step) {
  check_defined("slice", self);
  SB_CHECK_INDEX(self.dim() > 0, "slice: ", self.describe(), " has no dimensions");
  const int64_t d = wrap_dim("slice", dim, self.dim());
  SB_CHECK(step > 0, "slice: step ", step, " is not positive");
  const int64_t size = self.size(d);
  // As Python's slices: what is out of range is moved to the nearest end.
  const auto clip = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t from = clip(start.value_or(0));
  const int64_t length = std::max<int64_t>(clip(end.value_or(INT64_MAX)) - from, 0);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  sizes[static_cast<size_t>(d)] = length == 0 ? 0 : (length - 1) / step + 1;
  strides[static_cast<size_t>(d)] = checked_mul(self.stride(d), step);
  const int64_t offset = checked_add(self.storage_offset(), checked_mul(from, self.stride(d)));
  return alias_with_unchecked(self, sizes, strides, offset);
}

Tensor narrow_kernel(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  check_defined("narrow", self);
  SB_CHECK(self.dim() > 0, "narrow: ", self.describe(), " has no dimensions");
  const int64_t size = self.size(wrap_dim("narrow", dim, self.dim()));
  SB_CHECK_INDEX(start >= -size && start <= size, "narrow: start ", start,
                 " is out of range at dimension ", dim, " of ", self.describe());
  const int64_t from = start < 0 ? start + size : start;
  SB_CHECK(length >= 0 && length <= size - from, "narrow: start ", start, " and length ", length,
           " leave dimension ", dim, " of ", self.describe());
  return slice(self, dim, from, from + length, 1);
}

Tensor narrow_tensor_kernel(const Tensor& self, int64_t dim, const Tensor& start,
                            const SymInt& length) {
  check_defined("narrow", start);
  SB_CHECK(start.dim() == 0 && is_integral(start.dtype()),
           "narrow: start: expected a 0-dim tensor of integers, got ", start.describe());
  return narrow(self, dim, item(start).to<int64_t>(), length);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(select);
  m.impl(select, DispatchKey::CompositeExplicitAutograd, select_kernel);
  m.define(slice);
  m.impl(slice, DispatchKey::CompositeExplicitAutograd, slice_kernel);
  m.define(narrow);
  m.impl(narrow, DispatchKey::CompositeImplicitAutograd, narrow_kernel);
  m.define(narrow_Tensor);
  m.impl(narrow_Tensor, DispatchKey::CompositeImplicitAutograd, narrow_tensor_kernel);
}

}  // namespace sb
