#include "switchboard/ops/indexing/repeat_interleave.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/item.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/reductions.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

void check_repeats(const Tensor& repeats) {
  check_defined("repeat_interleave", repeats);
  SB_CHECK(repeats.dim() == 1, "repeat_interleave: repeats: expected a vector, got ",
           repeats.describe());
  SB_CHECK(repeats.dtype() == DType::Int32 || repeats.dtype() == DType::Int64,
           "repeat_interleave: repeats: expected int32 or int64, got ", repeats.describe());
}
void check_output_size(std::optional<int64_t> output_size, int64_t total) {
  SB_CHECK(!output_size || *output_size == total, "repeat_interleave: output_size: expected ",
           total, ", got ", output_size.value_or(0));
}

Tensor repeats_cpu(const Tensor& repeats, std::optional<int64_t> output_size) {
  check_repeats(repeats);
  const Tensor counts = cast_copy(repeats, DType::Int64);
  const int64_t* const count = counts.data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    SB_CHECK(count[i] >= 0, "repeat_interleave: repeats: ", count[i], " is negative");
    total = checked_add(total, count[i]);
  }
  check_output_size(output_size, total);
  const Tensor result = empty_on(Device(DeviceType::CPU), {total}, DType::Int64);
  int64_t* to = result.data<int64_t>();
  for (int64_t i = 0; i < counts.numel(); ++i) to = std::fill_n(to, count[i], i);
  return repeats.dtype() == DType::Int64 ? result : cast_copy(result, repeats.dtype());
}
Tensor repeats_meta(const Tensor& repeats, std::optional<int64_t> output_size) {
  check_repeats(repeats);
  if (!output_size) {
    SB_THROW(DynamicOutputShapeError,
             "repeat_interleave: the result's shape depends on repeats, which meta tensors do not "
             "have");
  }
  return empty_on(repeats.device(), {*output_size}, repeats.dtype());
}

Tensor repeat_by_tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                        std::optional<int64_t> output_size) {
  check_defined("repeat_interleave", self);
  check_defined("repeat_interleave", repeats);
  const Tensor input = dim ? self : flatten(self);
  const int64_t d = dim.value_or(0);
  const int64_t size = input.size(d);
  SB_CHECK(repeats.dim() <= 1, "repeat_interleave: repeats: expected a vector, got ",
           repeats.describe());
  const bool one = repeats.dim() == 0 || repeats.size(0) == 1;
  SB_CHECK(one || repeats.size(0) == size, "repeat_interleave: repeats: expected ", size,
           " elements, got ", repeats.describe());
  const Tensor counts = one ? expand(reshape(repeats, {1}), {size}) : repeats;
  return index_select(input, d, repeat_interleave_Tensor(counts, output_size));
}

Tensor repeat_by_number(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                        std::optional<int64_t> output_size) {
  check_defined("repeat_interleave", self);
  const Tensor input = dim ? self : flatten(self);
  const int64_t d = dim.value_or(0) < 0 ? *dim + input.dim() : dim.value_or(0);
  const int64_t size = input.size(dim.value_or(0));
  SB_CHECK(repeats >= 0, "repeat_interleave: repeats: ", repeats, " is negative");
  check_output_size(output_size, checked_mul(size, repeats));
  // Side by side in a dimension of their own, and then in one with the elements.
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  sizes.insert(sizes.begin() + d + 1, repeats);
  return flatten(clone(expand(unsqueeze(input, d + 1), sizes), MemoryFormat::Contiguous), d, d + 1);
}

Tensor one_hot_kernel(const Tensor& self, int64_t num_classes) {
  check_defined("one_hot", self);
  SB_CHECK(self.dtype() == DType::Int64, "one_hot: self: expected int64, got ", self.describe());
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (self.numel() == 0) {
    SB_CHECK(num_classes > 0, "one_hot: num_classes: expected a positive number for ",
             self.describe(), ", got ", num_classes);
  } else {
    SB_CHECK(item(min_all(self)).to<int64_t>() >= 0, "one_hot: self has a negative element");
    const int64_t largest = item(max_all(self)).to<int64_t>();
    SB_CHECK(num_classes == -1 || num_classes > largest, "one_hot: num_classes: ", num_classes,
             " is not larger than the largest element, ", largest);
    if (num_classes == -1) num_classes = checked_add(largest, 1);
  }
  sizes.push_back(num_classes);
  return scatter_value_(new_zeros(self, sizes), -1, unsqueeze(self, -1), 1);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(repeat_interleave_Tensor);
  m.impl(repeat_interleave_Tensor, DispatchKey::CPU, repeats_cpu);
  m.impl(repeat_interleave_Tensor, DispatchKey::Meta, repeats_meta);
  define_out_by_copy<repeat_interleave_Tensor>(m);
  m.define(repeat_interleave_self_Tensor);
  m.impl(repeat_interleave_self_Tensor, DispatchKey::CompositeImplicitAutograd, repeat_by_tensor);
  m.define(repeat_interleave);
  m.impl(repeat_interleave, DispatchKey::CompositeImplicitAutograd, repeat_by_number);
  m.define(one_hot);
  m.impl(one_hot, DispatchKey::CompositeImplicitAutograd, one_hot_kernel);
}

}  // namespace sb
