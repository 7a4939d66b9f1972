#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/size_bounds.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/size_text.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// How many of `length` elements are `step` apart, the first included.
int64_t strided_length(int64_t length, int64_t step) {
  return length == 0 ? 0 : (length - 1) / step + 1;
}
SymInt strided_length(const SymInt& length, const SymInt& step) {
  return (length + step - 1) / step;
}

template <SizeType Int>
Tensor selected(const Tensor& self, int64_t dim, const Int& index) {
  SB_CHECK_INDEX(self.dim() > 0, "select: ", self.describe(), " has no dimensions");
  const int64_t d = wrap_dim("select", dim, self.dim());
  const SizesRef<Int> old_sizes = sizes_of<Int>(self), old_strides = strides_of<Int>(self);
  const Int& size = old_sizes[static_cast<size_t>(d)];
  SB_CHECK_INDEX(sym_and(index >= -size, index < size), "select: index ", size_text(index),
                 " is out of range at dimension ", d, " of ", self.describe());
  SizeVector<Int> sizes(old_sizes.begin(), old_sizes.end());
  SizeVector<Int> strides(old_strides.begin(), old_strides.end());
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  const Int at = from_front(index, size);
  const Int offset =
      sum_of(storage_offset_of<Int>(self), product_of(at, old_strides[static_cast<size_t>(d)]));
  return alias_of_shape(self, sizes, strides, offset);
}
Tensor select_kernel(const Tensor& self, int64_t dim, const SymInt& index) {
  check_defined("select", self);
  return by_size(any_symbolic(self, index),
                 [&]<class Int>() { return selected<Int>(self, dim, size_as<Int>(index)); });
}

template <SizeType Int>
Tensor sliced(const Tensor& self, int64_t dim, const std::optional<SymInt>& start,
              const std::optional<SymInt>& end, const Int& step) {
  SB_CHECK_INDEX(self.dim() > 0, "slice: ", self.describe(), " has no dimensions");
  const int64_t d = wrap_dim("slice", dim, self.dim());
  const size_t along = static_cast<size_t>(d);
  SB_CHECK(step > 0, "slice: step ", size_text(step), " is not positive");
  const SizesRef<Int> old_sizes = sizes_of<Int>(self), old_strides = strides_of<Int>(self);
  const Int& size = old_sizes[along];
  // As Python's slices: what is out of range is moved to the nearest end.
  const auto clip = [&](const Int& i) -> Int {
    return smaller(larger(from_front(i, size), Int(0)), size);
  };
  const Int from = start ? clip(size_as<Int>(*start)) : Int(0);
  const bool to_the_end = !end || (!end->is_symbolic() && end->expect_int() == INT64_MAX);
  const Int to = to_the_end ? size : clip(size_as<Int>(*end));
  // Where every element is taken, symbols need not be asked whether there is one.
  const bool takes_all = known(from == 0) && to_the_end && known(step == 1);
  const Int length = takes_all ? size : larger(Int(to - from), Int(0));
  SizeVector<Int> sizes(old_sizes.begin(), old_sizes.end());
  SizeVector<Int> strides(old_strides.begin(), old_strides.end());
  sizes[along] = known(step == 1) ? length : strided_length(length, step);
  strides[along] = product_of(old_strides[along], step);
  const Int offset = sum_of(storage_offset_of<Int>(self), product_of(from, old_strides[along]));
  return alias_of_shape(self, sizes, strides, offset);
}
Tensor slice_kernel(const Tensor& self, int64_t dim, const std::optional<SymInt>& start,
                    const std::optional<SymInt>& end, const SymInt& step) {
  check_defined("slice", self);
  return by_size(any_symbolic(self, start, end, step), [&]<class Int>() {
    return sliced<Int>(self, dim, start, end, size_as<Int>(step));
  });
}

template <SizeType Int>
Tensor narrowed(const Tensor& self, int64_t dim, const Int& start, const Int& length) {
  SB_CHECK(self.dim() > 0, "narrow: ", self.describe(), " has no dimensions");
  SB_CHECK(length >= 0, "narrow: length: expected no negative number, got ", size_text(length));
  const Int& size = sizes_of<Int>(self)[static_cast<size_t>(wrap_dim("narrow", dim, self.dim()))];
  SB_CHECK_INDEX(sym_and(start >= -size, start <= size), "narrow: start ", size_text(start),
                 " is out of range at dimension ", dim, " of ", self.describe());
  const Int from = from_front(start, size);
  SB_CHECK(length <= size - from, "narrow: start ", size_text(start), " and length ",
           size_text(length), " leave dimension ", dim, " of ", self.describe());
  return slice(self, dim, SymInt(from), SymInt(from + length), 1);
}
Tensor narrow_kernel(const Tensor& self, int64_t dim, const SymInt& start, const SymInt& length) {
  check_defined("narrow", self);
  return by_size(any_symbolic(self, start, length), [&]<class Int>() {
    return narrowed<Int>(self, dim, size_as<Int>(start), size_as<Int>(length));
  });
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
  define(m, select).view(select_kernel);
  define(m, slice).view(slice_kernel);
  define(m, narrow).composed(narrow_kernel);
  define(m, narrow_Tensor).composed(narrow_tensor_kernel);
}

}  // namespace sb
