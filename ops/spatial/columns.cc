#include "switchboard/ops/spatial/columns.h"

#include <cstring>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/spatial/im2col.h"

namespace sb {
namespace {

using namespace spatial;

ConvShape shape_of(const char* op, const Size3& space, IntArrayRef kernel_size,
                   IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  for (const IntArrayRef list : {kernel_size, dilation, padding, stride}) {
    SB_CHECK(list.size() == 2, op, ": expected lists of 2 elements, got ", shape_text(list));
  }
  ConvShape s{};
  s.input = space;
  s.kernel = list_argument(op, "kernel_size", kernel_size, 2);
  s.dilation = list_argument(op, "dilation", dilation, 2);
  s.padding = list_argument(op, "padding", padding, 2);
  s.stride = list_argument(op, "stride", stride, 2);
  s.kernel[0] = s.dilation[0] = s.stride[0] = s.output[0] = 1;
  s.padding[0] = 0;
  for (size_t d = 1; d < 3; ++d) {
    SB_CHECK(s.kernel[d] > 0 && s.dilation[d] > 0 && s.padding[d] >= 0 && s.stride[d] > 0, op,
             ": expected positive kernel_size, dilation and stride and no negative padding, got ",
             shape_text(kernel_size), ", ", shape_text(dilation), ", ", shape_text(stride), " and ",
             shape_text(padding));
    const int64_t reach = checked_add(checked_mul(s.dilation[d], s.kernel[d] - 1), 1);
    const int64_t room = checked_add(space[d], checked_mul(2, s.padding[d])) - reach;
    SB_CHECK(room >= 0, op, ": kernel_size ", shape_text(kernel_size), " with dilation ",
             shape_text(dilation), " does not fit");
    s.output[d] = room / s.stride[d] + 1;
  }
  checked_numel({s.kernel[1], s.kernel[2], s.output[1], s.output[2]});
  return s;
}

ConvShape im2col_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride) {
  check_batched_or_not("im2col", self, 2);
  ConvShape s =
      shape_of("im2col", space_of(self.sizes(), 2), kernel_size, dilation, padding, stride);
  s.in_channels = self.size(-3);
  return s;
}
TensorMeta im2col_rule(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride) {
  const ConvShape s = im2col_shape(self, kernel_size, dilation, padding, stride);
  computed_in("im2col", self.dtype());
  DimVector sizes = {checked_mul(s.in_channels, volume(s.kernel)), volume(s.output)};
  if (self.dim() == 4) sizes.insert(sizes.begin(), self.size(0));
  return {std::move(sizes), self.dtype()};
}
void im2col_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, const Tensor& out) {
  if (out.numel() == 0) return;
  const ConvShape s = im2col_shape(self, kernel_size, dilation, padding, stride);
  const DenseOutput dense(out, self.dtype());
  const Tensor input = dense_input(self, self.dtype());
  const int64_t outputs = volume(s.output), items = out.numel() / (s.depth() * outputs);
  const auto item = [&](const Tensor& t, int64_t i) {
    return static_cast<char*>(t.data_ptr()) +
           t.nbytes() / static_cast<size_t>(items) * static_cast<size_t>(i);
  };
  parallel_for(0, items, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      planes_to_columns(s, self.dtype(), item(input, i), {0, outputs}, item(dense.tensor(), i),
                        outputs);
    }
  });
  dense.finish();
}

ConvShape col2im_shape(const Tensor& self, SymIntArrayRef output_size, IntArrayRef kernel_size,
                       IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  const char* op = "col2im";
  const DimVector space = guarded(output_size);
  SB_CHECK(space.size() == 2 && space[0] > 0 && space[1] > 0, op,
           ": output_size: expected 2 positive sizes, got ", shape_text(space));
  check_batched_or_not(op, self, 1);
  ConvShape s = shape_of(op, space_of(space, 2), kernel_size, dilation, padding, stride);
  SB_CHECK(self.size(-2) % volume(s.kernel) == 0 && self.size(-1) == volume(s.output), op,
           ": expected a multiple of ", volume(s.kernel), " rows and ", volume(s.output),
           " columns, got ", self.describe());
  s.in_channels = self.size(-2) / volume(s.kernel);
  return s;
}
TensorMeta col2im_rule(const Tensor& self, SymIntArrayRef output_size, IntArrayRef kernel_size,
                       IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  const ConvShape s = col2im_shape(self, output_size, kernel_size, dilation, padding, stride);
  computed_in("col2im", self.dtype());
  DimVector sizes = {s.in_channels, s.input[1], s.input[2]};
  if (self.dim() == 3) sizes.insert(sizes.begin(), self.size(0));
  return {std::move(sizes), self.dtype()};
}
void col2im_kernel(const Tensor& self, SymIntArrayRef output_size, IntArrayRef kernel_size,
                   IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride,
                   const Tensor& out) {
  if (out.numel() == 0) return;
  const ConvShape s = col2im_shape(self, output_size, kernel_size, dilation, padding, stride);
  const DType dtype = computed_in("col2im", self.dtype());
  const DenseOutput dense(out, dtype);
  const Tensor input = dense_input(self, dtype);
  const int64_t outputs = volume(s.output), items = self.numel() / (s.depth() * outputs);
  const auto item = [&](const Tensor& t, int64_t i) {
    return static_cast<char*>(t.data_ptr()) +
           t.nbytes() / static_cast<size_t>(items) * static_cast<size_t>(i);
  };
  parallel_for(0, items, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      std::memset(item(dense.tensor(), i), 0, dense.tensor().nbytes() / static_cast<size_t>(items));
      add_columns_to_planes(s, dtype, item(input, i), outputs, {0, outputs},
                            item(dense.tensor(), i));
    }
  });
  dense.finish();
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  // The out= forms convert.
  constexpr StructuredOptions options = {.cast_to_out = true};
  define(m, im2col).structured<im2col_rule, im2col_kernel>(options).out(im2col_out);
  define(m, col2im).structured<col2im_rule, col2im_kernel>(options).out(col2im_out);
}

}  // namespace sb
