#include "switchboard/ops/spatial/conv_arguments.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_text.h"

namespace sb::spatial {
namespace {

template <SizeType Int>
void check_channels(std::string_view op, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, bool transposed, int64_t groups) {
  SB_CHECK(groups > 0, op, ": groups: expected more than 0, got ", groups);
  const Int &first = sizes_of<Int>(weight)[0], &second = sizes_of<Int>(weight)[1];
  SB_CHECK(sym_and(first >= groups, first % groups == 0), op,
           ": weight: expected a first dimension that ", groups, " groups divide, got ",
           weight.describe());
  const Int in = transposed ? first : product_of(second, Int(groups));
  const Int out = transposed ? product_of(second, Int(groups)) : first;
  SB_CHECK(sizes_of<Int>(input)[1] == in, op, ": input: expected ", size_text(in),
           " channels for weight ", weight.describe(), " and ", groups, " groups, got ",
           input.describe());
  if (!bias.defined()) return;
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, op, ": bias: expected ", size_text(out), " elements, got ", bias.describe());
  };
  fits(bias.dim() == 1);
  fits(numel_of<Int>(bias) == out);
}

// How often a step fits in the room, 0 or less where there is none.
int64_t places(int64_t room, int64_t step) { return room < 0 ? 0 : room / step + 1; }
SymInt places(const SymInt& room, int64_t step) { return sym_floor_div(room, step) + 1; }

// An output of a convolution, or with `transposed` an input. 0 or less where the kernel does not
// fit.
template <SizeType Int>
Int extent(const BasicConvShape<Int>& s, size_t d, const Int& input, int64_t output_padding,
           bool transposed) {
  const Int reach = sum_of(product_of(Int(s.dilation[d]), Int(s.kernel[d] - 1)), Int(1));
  const Int padding = checked_mul(2, s.padding[d]);
  if (transposed) {
    const Int begin = product_of(Int(input - 1), Int(s.stride[d]));
    return sum_of(begin, sum_of(reach, Int(output_padding))) - padding;
  }
  return places(sum_of(input, padding) - reach, s.stride[d]);
}

}  // namespace

template <SizeType Int>
ConvArguments<Int> conv_arguments(std::string_view op, const Tensor& input, const Tensor& weight,
                                  const Tensor& bias, SymIntArrayRef symbolic_stride,
                                  SymIntArrayRef symbolic_padding, SymIntArrayRef symbolic_dilation,
                                  bool transposed, SymIntArrayRef symbolic_output_padding,
                                  const SymInt& symbolic_groups) {
  const DimVector stride = guarded(symbolic_stride), padding = guarded(symbolic_padding);
  const DimVector dilation = guarded(symbolic_dilation);
  const DimVector output_padding = guarded(symbolic_output_padding);
  const int64_t groups = symbolic_groups.guard_int();
  const int n = static_cast<int>(weight.dim()) - 2;
  SB_CHECK(n >= 1 && n <= 3, op, ": weight: expected 3, 4 or 5 dimensions, got ",
           weight.describe());
  SB_CHECK(input.dim() == weight.dim(), op, ": input: expected ", weight.dim(),
           " dimensions for weight ", weight.describe(), ", got ", input.describe());
  const SizesRef<Int> sizes = sizes_of<Int>(input), weights = sizes_of<Int>(weight);
  ConvArguments<Int> a;
  BasicConvShape<Int>& s = a.shape;
  a.transposed = transposed;
  s.stride = list_argument(op, "stride", stride, n);
  s.padding = list_argument(op, "padding", padding, n);
  s.dilation = list_argument(op, "dilation", dilation, n);
  Size3 extra = list_argument(op, "output_padding", output_padding, n);
  s.kernel = space_of<Int>(weights, n);
  check_channels<Int>(op, input, weight, bias, transposed, groups);
  s.batch = sizes[0];
  s.groups = groups;
  s.in_channels = weights[1];
  s.out_channels = weights[0] / groups;
  a.empty = same_size(sizes[1], Int(0));

  Space<Int>& from = transposed ? s.output : s.input;
  Space<Int>& to = transposed ? s.input : s.output;
  from = space_of<Int>(sizes, n);
  to = {Int(1), Int(1), Int(1)};
  for (size_t d = 0; d < 3; ++d) {
    if (d < static_cast<size_t>(3 - n)) {
      s.stride[d] = s.dilation[d] = 1;
      s.padding[d] = extra[d] = 0;
      continue;
    }
    SB_CHECK(s.stride[d] > 0 && s.dilation[d] > 0 && s.padding[d] >= 0 && extra[d] >= 0, op,
             ": expected positive stride and dilation and no negative padding, got ",
             shape_text(IntArrayRef(stride)), ", ", shape_text(IntArrayRef(dilation)), ", ",
             shape_text(IntArrayRef(padding)), " and ", shape_text(IntArrayRef(output_padding)));
    SB_CHECK(sym_or(from[d] > 0, sym_or(s.batch == 0, a.empty)), op,
             ": input: expected elements, got ", input.describe());
    SB_CHECK(s.kernel[d] > 0, op, ": weight: expected a kernel with elements, got ",
             weight.describe());
    SB_CHECK(!transposed || extra[d] < std::max(s.stride[d], s.dilation[d]), op,
             ": output_padding: expected less than stride or dilation, got ",
             shape_text(IntArrayRef(output_padding)));
    to[d] = extent(s, d, from[d], extra[d], transposed);
    SB_CHECK(to[d] > 0, op, ": kernel ", shape_text(weights), " with padding ",
             shape_text(IntArrayRef(padding)), " and dilation ", shape_text(IntArrayRef(dilation)),
             " does not fit ", input.describe());
  }
  a.result = with_space<Int>(sizes, to, n);
  a.result[1] = a.empty ? Int(0) : transposed ? product_of(weights[1], Int(groups)) : weights[0];
  return a;
}
template ConvArguments<int64_t> conv_arguments(std::string_view, const Tensor&, const Tensor&,
                                               const Tensor&, SymIntArrayRef, SymIntArrayRef,
                                               SymIntArrayRef, bool, SymIntArrayRef, const SymInt&);
template ConvArguments<SymInt> conv_arguments(std::string_view, const Tensor&, const Tensor&,
                                              const Tensor&, SymIntArrayRef, SymIntArrayRef,
                                              SymIntArrayRef, bool, SymIntArrayRef, const SymInt&);

namespace {

// As where two dimensions are, of which the first has one element.
template <SizeType Int>
Tensor with_height(const Tensor& t) {
  const SizesRef<Int> sizes = sizes_of<Int>(t), strides = strides_of<Int>(t);
  const Int all_sizes[] = {sizes[0], sizes[1], Int(1), sizes[2]};
  const Int all_strides[] = {strides[0], strides[1], sizes[2] * strides[2], strides[2]};
  return alias_of_shape(t, SizesRef<Int>(all_sizes, 4), SizesRef<Int>(all_strides, 4),
                        storage_offset_of<Int>(t));
}

}  // namespace

bool gives_channels_last(const Tensor& input, const Tensor& weight) {
  const auto is_channels_last = [](const Tensor& t) {
    return suggest_memory_format(t) != MemoryFormat::Contiguous;
  };
  if (input.dim() == 3) {
    return is_channels_last(
        by_size(weight.is_symbolic(), [&]<class Int>() { return with_height<Int>(weight); }));
  }
  const bool is_narrow = is_floating_point(input.dtype()) && input.dtype() != DType::Float64;
  if (input.dim() == 5 && !is_narrow) return false;
  return is_channels_last(input) || is_channels_last(weight);
}

template <SizeType Int>
BasicTensorMeta<Int> conv_laid_out(SizeVector<Int> sizes, DType dtype, bool channels_last) {
  if (!channels_last) return {std::move(sizes), dtype};
  const bool is_row = sizes.size() == 3;
  SizeVector<Int> spatial = sizes;
  if (is_row) spatial.insert(spatial.begin() + 2, Int(1));
  SizeVector<Int> strides = strides_in_format<Int>(
      spatial, spatial.size() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast);
  if (is_row) strides.erase(strides.begin() + 2);
  return {std::move(sizes), dtype, std::move(strides)};
}
template TensorMeta conv_laid_out<int64_t>(DimVector, DType, bool);
template SymTensorMeta conv_laid_out<SymInt>(SymDimVector, DType, bool);

}  // namespace sb::spatial
