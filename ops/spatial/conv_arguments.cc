#include "switchboard/ops/spatial/conv_arguments.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/memory_format.h"

namespace sb::spatial {
namespace {

void check_channels(std::string_view op, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, bool transposed, int64_t groups) {
  SB_CHECK(groups > 0, op, ": groups: expected more than 0, got ", groups);
  SB_CHECK(weight.size(0) >= groups && weight.size(0) % groups == 0, op,
           ": weight: expected a first dimension that ", groups, " groups divide, got ",
           weight.describe());
  const int64_t in = transposed ? weight.size(0) : checked_mul(weight.size(1), groups);
  const int64_t out = transposed ? checked_mul(weight.size(1), groups) : weight.size(0);
  SB_CHECK(input.size(1) == in, op, ": input: expected ", in, " channels for weight ",
           weight.describe(), " and ", groups, " groups, got ", input.describe());
  SB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == out), op, ": bias: expected ",
           out, " elements, got ", bias.describe());
}

// An output of a convolution, or with `transposed` an input. 0 where the kernel does not fit.
int64_t extent(const ConvShape& s, size_t d, int64_t input, int64_t output_padding,
               bool transposed) {
  const int64_t reach = checked_add(checked_mul(s.dilation[d], s.kernel[d] - 1), 1);
  const int64_t padding = checked_mul(2, s.padding[d]);
  if (transposed) {
    return checked_add(checked_mul(input - 1, s.stride[d]), checked_add(reach, output_padding)) -
           padding;
  }
  const int64_t room = checked_add(input, padding) - reach;
  return room < 0 ? 0 : room / s.stride[d] + 1;
}

}  // namespace

ConvArguments conv_arguments(std::string_view op, const Tensor& input, const Tensor& weight,
                             const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                             int64_t groups) {
  const int n = static_cast<int>(weight.dim()) - 2;
  SB_CHECK(n >= 1 && n <= 3, op, ": weight: expected 3, 4 or 5 dimensions, got ",
           weight.describe());
  SB_CHECK(input.dim() == weight.dim(), op, ": input: expected ", weight.dim(),
           " dimensions for weight ", weight.describe(), ", got ", input.describe());
  ConvArguments a;
  ConvShape& s = a.shape;
  a.transposed = transposed;
  s.stride = list_argument(op, "stride", stride, n);
  s.padding = list_argument(op, "padding", padding, n);
  s.dilation = list_argument(op, "dilation", dilation, n);
  Size3 extra = list_argument(op, "output_padding", output_padding, n);
  s.kernel = space_of(weight.sizes(), n);
  check_channels(op, input, weight, bias, transposed, groups);
  s.batch = input.size(0);
  s.groups = groups;
  s.in_channels = weight.size(1);
  s.out_channels = weight.size(0) / groups;
  a.empty = input.size(1) == 0;

  Size3& from = transposed ? s.output : s.input;
  Size3& to = transposed ? s.input : s.output;
  from = space_of(input.sizes(), n);
  to = {1, 1, 1};
  for (size_t d = 0; d < 3; ++d) {
    if (d < static_cast<size_t>(3 - n)) {
      s.stride[d] = s.dilation[d] = 1;
      s.padding[d] = extra[d] = 0;
      continue;
    }
    SB_CHECK(s.stride[d] > 0 && s.dilation[d] > 0 && s.padding[d] >= 0 && extra[d] >= 0, op,
             ": expected positive stride and dilation and no negative padding, got ",
             shape_text(stride), ", ", shape_text(dilation), ", ", shape_text(padding), " and ",
             shape_text(output_padding));
    SB_CHECK(from[d] > 0 || s.batch == 0 || a.empty, op, ": input: expected elements, got ",
             input.describe());
    SB_CHECK(s.kernel[d] > 0, op, ": weight: expected a kernel with elements, got ",
             weight.describe());
    SB_CHECK(!transposed || extra[d] < std::max(s.stride[d], s.dilation[d]), op,
             ": output_padding: expected less than stride or dilation, got ",
             shape_text(output_padding));
    to[d] = extent(s, d, from[d], extra[d], transposed);
    SB_CHECK(to[d] > 0, op, ": kernel ", shape_text(weight.sizes()), " with padding ",
             shape_text(padding), " and dilation ", shape_text(dilation), " does not fit ",
             input.describe());
  }
  a.result = with_space(input.sizes(), to, n);
  a.result[1] = a.empty ? 0 : transposed ? checked_mul(weight.size(1), groups) : weight.size(0);
  return a;
}

bool gives_channels_last(const Tensor& input, const Tensor& weight, bool transposed) {
  if (transposed || input.dim() > 4) return false;
  const auto is_channels_last = [](const Tensor& t) {
    if (t.dim() == 4) return suggest_memory_format(t) == MemoryFormat::ChannelsLast;
    const int64_t sizes[] = {t.size(0), t.size(1), 1, t.size(2)};
    const int64_t strides[] = {t.stride(0), t.stride(1), t.size(2) * t.stride(2), t.stride(2)};
    return suggest_memory_format(alias_with_unchecked(t, sizes, strides, t.storage_offset())) ==
           MemoryFormat::ChannelsLast;
  };
  return is_channels_last(input) || is_channels_last(weight);
}

TensorMeta conv_result(const ConvArguments& a, DType dtype, bool channels_last) {
  TensorMeta meta{a.result, dtype};
  if (!channels_last) return meta;
  DimVector sizes = a.result;
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  const Tensor shape =
      empty_on(Device{DeviceType::Meta}, sizes, DType::UInt8, MemoryFormat::ChannelsLast);
  meta.strides.assign(shape.strides().begin(), shape.strides().end());
  if (a.result.size() == 3) meta.strides.erase(meta.strides.begin() + 2);
  return meta;
}

}  // namespace sb::spatial
