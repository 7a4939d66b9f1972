#include "switchboard/ops/indexing/repeat_interleave.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_repeats(const Tensor& repeats) {
  check_defined("repeat_interleave", repeats);
  SB_CHECK(repeats.dim() == 1, "repeat_interleave: repeats: expected a vector, got ",
           repeats.describe());
  SB_CHECK_NOT_IMPLEMENTED(is_integral(repeats.dtype()),
                           "repeat_interleave: repeats: expected integers, got ",
                           repeats.describe());
}
void check_output_size(const std::optional<SymInt>& output_size, const SymInt& total) {
  if (!output_size) return;
  SB_CHECK(*output_size == total, "repeat_interleave: output_size: expected ", total.to_string(),
           ", got ", output_size->to_string());
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
  check_output_size(output_size ? std::optional<SymInt>(*output_size) : std::nullopt, total);
  const Tensor result = empty_on(Device(DeviceType::CPU), {total}, DType::Int64);
  int64_t* to = result.data<int64_t>();
  for (int64_t i = 0; i < counts.numel(); ++i) to = std::fill_n(to, count[i], i);
  return repeats.dtype() == DType::Int64 ? result : cast_copy(result, repeats.dtype());
}
Tensor repeats_meta(const Tensor& repeats, const std::optional<SymInt>& output_size) {
  check_repeats(repeats);
  if (!output_size) {
    SB_THROW(DynamicOutputShapeError,
             "repeat_interleave: the result's shape depends on repeats, which meta tensors do not "
             "have");
  }
  return empty({*output_size}, repeats.dtype(), std::nullopt, repeats.device());
}

Tensor repeat_by_tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                        const std::optional<SymInt>& output_size) {
  check_defined("repeat_interleave", self);
  check_defined("repeat_interleave", repeats);
  const Tensor input = dim ? self : flatten(self);
  const int64_t d = dim.value_or(0);
  const SymInt size = input.sym_size(d);
  SB_CHECK(repeats.dim() <= 1, "repeat_interleave: repeats: expected a vector, got ",
           repeats.describe());
  const bool one = repeats.dim() == 0 || is_one(repeats.sym_size(0));
  if (!one) {
    SB_CHECK(repeats.sym_size(0) == size, "repeat_interleave: repeats: expected ", size.to_string(),
             " elements, got ", repeats.describe());
  }
  const Tensor counts = one ? expand(reshape(repeats, {1}), {size}) : repeats;
  return index_select(input, d, repeat_interleave_Tensor(counts, output_size));
}

Tensor repeat_by_number(const Tensor& self, const SymInt& repeats, std::optional<int64_t> dim,
                        const std::optional<SymInt>& output_size) {
  check_defined("repeat_interleave", self);
  const Tensor input = dim ? self : flatten(self);
  const int64_t d = dim.value_or(0) < 0 ? *dim + input.dim() : dim.value_or(0);
  const SymInt size = input.sym_size(dim.value_or(0));
  SB_CHECK(repeats >= 0, "repeat_interleave: repeats: ", repeats.to_string(), " is negative");
  check_output_size(output_size, size * repeats);
  // Side by side in a dimension of their own, and then in one with the elements.
  SymDimVector sizes(input.sym_sizes().begin(), input.sym_sizes().end());
  sizes.insert(sizes.begin() + d + 1, repeats);
  return flatten(
      clone(expand(unsqueeze(input, d + 1), SymIntArrayRef(sizes)), MemoryFormat::Contiguous), d,
      d + 1);
}

// The number of classes, which is that of the largest element and one where it is -1.
int64_t classes_of(const Tensor& self, int64_t num_classes) {
  SB_CHECK_KIND(DynamicOutputShapeError, !self.is_meta() && !self.is_symbolic(),
                "one_hot: num_classes: without data, expected a positive number, got ",
                num_classes);
  if (self.numel() == 0) {
    SB_CHECK(num_classes > 0, "one_hot: num_classes: expected a positive number for ",
             self.describe(), ", got ", num_classes);
    return num_classes;
  }
  SB_CHECK(item(min_all(self)).to<int64_t>() >= 0, "one_hot: self has a negative element");
  const int64_t largest = item(max_all(self)).to<int64_t>();
  SB_CHECK(num_classes == -1 || num_classes > largest, "one_hot: num_classes: ", num_classes,
           " is not larger than the largest element, ", largest);
  return num_classes == -1 ? checked_add(largest, 1) : num_classes;
}

Tensor one_hot_kernel(const Tensor& self, int64_t num_classes) {
  check_defined("one_hot", self);
  SB_CHECK(self.dtype() == DType::Int64, "one_hot: self: expected int64, got ", self.describe());
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  // Without data, what the elements are will show.
  if (num_classes <= 0 || needs_values(self)) num_classes = classes_of(self, num_classes);
  sizes.push_back(num_classes);
  return scatter_value_(new_zeros(self, SymIntArrayRef(sizes)), -1, unsqueeze(self, -1), 1);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  // In the place of the rule that the tag gives: output_size may tell the shape.
  m.allow_override();
  define(m, repeat_interleave_Tensor, Tag::dynamic_output_shape)
      .cpu(repeats_cpu)
      .meta(repeats_meta)
      .out(repeat_interleave_Tensor_out);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, repeat_interleave_self_Tensor).composed(repeat_by_tensor);
  define(m, repeat_interleave).composed(repeat_by_number);
  define(m, one_hot).composed(one_hot_kernel);
}

}  // namespace sb
