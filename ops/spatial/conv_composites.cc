// The convolutions that users call, made of aten::convolution.

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/spatial/spatial.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using namespace spatial;

// f of the input with a batch; without one, of a batch of one, which it takes away again.
template <class F>
Tensor with_batch(const char* op, const Tensor& input, int64_t n, const F& f) {
  SB_CHECK(input.dim() == n + 1 || input.dim() == n + 2, op, ": input: expected ", n + 1, " or ",
           n + 2, " dimensions, got ", input.describe());
  if (input.dim() == n + 2) return f(input);
  return squeeze_dim(f(unsqueeze(input, 0)), 0);
}

const SymInt kNone[] = {0};

template <int64_t n>
Tensor conv(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
            SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
            const SymInt& groups) {
  return with_batch("conv", input, n, [&](const Tensor& batch) {
    return convolution(batch, weight, bias, stride, padding, dilation, false, kNone, groups);
  });
}

template <int64_t n>
Tensor conv_transpose(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                      SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef output_padding,
                      const SymInt& groups, SymIntArrayRef dilation) {
  return with_batch("conv_transpose", input, n, [&](const Tensor& batch) {
    return convolution(batch, weight, bias, stride, padding, dilation, true, output_padding,
                       groups);
  });
}

// Padding that keeps the size. Where it is odd, one more is needed behind than before: then the
// result is that of one more on both sides, less what comes first.
Tensor conv_same(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                 SymIntArrayRef stride, SymIntArrayRef dilation, const SymInt& groups) {
  const char* op = "convolution with padding 'same'";
  const int n = static_cast<int>(weight.dim()) - 2;
  SB_CHECK(n >= 1 && n <= 3 && input.dim() == weight.dim(), op, ": expected an input and a weight ",
           "of as many dimensions, 3 to 5, got ", input.describe(), " and ", weight.describe());
  for (const int64_t s : list_argument(op, "stride", guarded(stride), n)) {
    SB_CHECK(s == 1, op, ": stride: expected 1, got ", shape_text(stride));
  }
  const Size3 spread = list_argument(op, "dilation", guarded(dilation), n);
  DimVector padding;
  std::vector<int64_t> odd;
  for (int d = 0; d < n; ++d) {
    const int64_t total = checked_mul(spread[static_cast<size_t>(3 - n + d)],
                                      std::max<int64_t>(0, weight.sym_size(d + 2).guard_int() - 1));
    padding.push_back(total / 2 + total % 2);
    if (total % 2 != 0) odd.push_back(d + 2);
  }
  Tensor result = convolution(input, weight, bias, stride, padding, dilation, false, kNone, groups);
  if (odd.empty()) return result;
  // One dimension is laid out as the second of two.
  if (n == 1) result = unsqueeze(result, 2);
  const MemoryFormat format = suggest_memory_format(result);
  for (const int64_t dim : odd) result = slice(result, n == 1 ? 3 : dim, 1);
  result = clone(result, format);
  return n == 1 ? squeeze_dim(result, 2) : result;
}

Tensor conv_mode(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                 SymIntArrayRef stride, std::string_view padding, SymIntArrayRef dilation,
                 const SymInt& groups) {
  if (padding == "same") return conv_same(input, weight, bias, stride, dilation, groups);
  SB_CHECK(padding == "valid", "convolution: padding: expected 'same' or 'valid', got '", padding,
           "'");
  return convolution(input, weight, bias, stride, kNone, dilation, false, kNone, groups);
}

template <int64_t n>
Tensor conv_padding(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                    SymIntArrayRef stride, std::string_view padding, SymIntArrayRef dilation,
                    const SymInt& groups) {
  return with_batch("conv", input, n, [&](const Tensor& batch) {
    return _convolution_mode(batch, weight, bias, stride, padding, dilation, groups);
  });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, conv1d).composed(&conv<1>);
  define(m, conv2d).composed(&conv<2>);
  define(m, conv3d).composed(&conv<3>);
  define(m, conv1d_padding).composed(&conv_padding<1>);
  define(m, conv2d_padding).composed(&conv_padding<2>);
  define(m, conv3d_padding).composed(&conv_padding<3>);
  define(m, _convolution_mode).composed(&conv_mode);
  define(m, conv_transpose1d).composed(&conv_transpose<1>);
  define(m, conv_transpose2d_input).composed(&conv_transpose<2>);
  define(m, conv_transpose3d_input).composed(&conv_transpose<3>);
}

}  // namespace sb
