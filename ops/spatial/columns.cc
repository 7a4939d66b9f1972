#include "switchboard/ops/spatial/columns.h"

#include <cstring>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/spatial/im2col.h"

namespace sb {
namespace {

using namespace spatial;

template <SizeType Int>
BasicConvShape<Int> shape_of(const char* op, const Space<Int>& space, IntArrayRef kernel_size,
                             IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  for (const IntArrayRef list : {kernel_size, dilation, padding, stride}) {
    SB_CHECK(list.size() == 2, op, ": expected lists of 2 elements, got ", shape_text(list));
  }
  BasicConvShape<Int> s{};
  s.input = space;
  const Size3 kernel = list_argument(op, "kernel_size", kernel_size, 2);
  s.kernel = {Int(1), Int(kernel[1]), Int(kernel[2])};
  s.dilation = list_argument(op, "dilation", dilation, 2);
  s.padding = list_argument(op, "padding", padding, 2);
  s.stride = list_argument(op, "stride", stride, 2);
  s.dilation[0] = s.stride[0] = 1;
  s.output[0] = 1;
  s.padding[0] = 0;
  for (size_t d = 1; d < 3; ++d) {
    SB_CHECK(kernel[d] > 0 && s.dilation[d] > 0 && s.padding[d] >= 0 && s.stride[d] > 0, op,
             ": expected positive kernel_size, dilation and stride and no negative padding, got ",
             shape_text(kernel_size), ", ", shape_text(dilation), ", ", shape_text(stride), " and ",
             shape_text(padding));
    const int64_t reach = checked_add(checked_mul(s.dilation[d], kernel[d] - 1), 1);
    const Int room = sum_of(space[d], Int(checked_mul(2, s.padding[d]))) - reach;
    SB_CHECK(room >= 0, op, ": kernel_size ", shape_text(kernel_size), " with dilation ",
             shape_text(dilation), " does not fit");
    s.output[d] = room / s.stride[d] + 1;
  }
  const Int all[] = {s.kernel[1], s.kernel[2], s.output[1], s.output[2]};
  product_of_sizes<Int>(all);
  return s;
}

template <SizeType Int>
BasicConvShape<Int> im2col_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                                 IntArrayRef padding, IntArrayRef stride) {
  check_batched_or_not<Int>("im2col", self, 2);
  const SizesRef<Int> sizes = sizes_of<Int>(self);
  BasicConvShape<Int> s =
      shape_of<Int>("im2col", space_of<Int>(sizes, 2), kernel_size, dilation, padding, stride);
  s.in_channels = sizes[sizes.size() - 3];
  return s;
}
template <SizeType Int>
BasicTensorMeta<Int> im2col_rule(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                                 IntArrayRef padding, IntArrayRef stride) {
  const BasicConvShape<Int> s = im2col_shape<Int>(self, kernel_size, dilation, padding, stride);
  computed_in("im2col", self.dtype());
  SizeVector<Int> sizes = {product_of(s.in_channels, product_of_sizes<Int>(s.kernel)),
                           product_of_sizes<Int>(s.output)};
  if (self.dim() == 4) sizes.insert(sizes.begin(), sizes_of<Int>(self)[0]);
  return {std::move(sizes), self.dtype()};
}
void im2col_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, const Tensor& out) {
  if (out.numel() == 0) return;
  const ConvShape s = im2col_shape<int64_t>(self, kernel_size, dilation, padding, stride);
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

template <SizeType Int>
BasicConvShape<Int> col2im_shape(const Tensor& self, SizesRef<Int> space, IntArrayRef kernel_size,
                                 IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  const char* op = "col2im";
  const auto check_space = [&](const auto& fits) {
    SB_CHECK(fits, op, ": output_size: expected 2 positive sizes, got ", shape_text(space));
  };
  check_space(space.size() == 2);
  for (const Int& size : space) check_space(size > 0);
  check_batched_or_not<Int>(op, self, 1);
  BasicConvShape<Int> s =
      shape_of<Int>(op, space_of<Int>(space, 2), kernel_size, dilation, padding, stride);
  const SizesRef<Int> sizes = sizes_of<Int>(self);
  const Int &rows = sizes[sizes.size() - 2], &columns = sizes[sizes.size() - 1];
  const Int kernel = product_of_sizes<Int>(s.kernel), outputs = product_of_sizes<Int>(s.output);
  const auto check_columns = [&](const auto& fits) {
    SB_CHECK(fits, op, ": expected a multiple of ", size_text(kernel), " rows and ",
             size_text(outputs), " columns, got ", self.describe());
  };
  check_columns(rows % kernel == 0);
  check_columns(columns == outputs);
  s.in_channels = rows / kernel;
  return s;
}
template <SizeType Int>
BasicTensorMeta<Int> col2im_rule(const Tensor& self, SymIntArrayRef output_size,
                                 IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                                 IntArrayRef stride) {
  const auto s =
      col2im_shape<Int>(self, sizes_as<Int>(output_size), kernel_size, dilation, padding, stride);
  computed_in("col2im", self.dtype());
  SizeVector<Int> sizes = {s.in_channels, s.input[1], s.input[2]};
  if (self.dim() == 3) sizes.insert(sizes.begin(), sizes_of<Int>(self)[0]);
  return {std::move(sizes), self.dtype()};
}
void col2im_kernel(const Tensor& self, SymIntArrayRef output_size, IntArrayRef kernel_size,
                   IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride,
                   const Tensor& out) {
  if (out.numel() == 0) return;
  const ConvShape s = col2im_shape<int64_t>(self, output_size.expect_ints(), kernel_size, dilation,
                                            padding, stride);
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
  define(m, im2col)
      .structured<by_size_rule<im2col_rule<int64_t>, im2col_rule<SymInt>>, im2col_kernel>(options)
      .out(im2col_out);
  define(m, col2im)
      .structured<by_size_rule<col2im_rule<int64_t>, col2im_rule<SymInt>>, col2im_kernel>(options)
      .out(col2im_out);
}

}  // namespace sb
