#include "switchboard/ops/spatial/convolution.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/spatial/conv_arguments.h"
#include "switchboard/ops/spatial/conv_compute.h"

namespace sb {
namespace {

using namespace spatial;

Tensor or_undefined(const std::optional<Tensor>& t) { return t ? *t : Tensor(); }

template <SizeType Int>
BasicTensorMeta<Int> rule(const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, SymIntArrayRef stride,
                          SymIntArrayRef padding, SymIntArrayRef dilation, bool transposed,
                          SymIntArrayRef output_padding, const SymInt& groups) {
  const char* op = "convolution";
  const auto a = conv_arguments<Int>(op, input, weight, or_undefined(bias), stride, padding,
                                     dilation, transposed, output_padding, groups);
  computed_in(op, input.dtype());
  check_dtype(op, "weight", weight, input.dtype());
  if (is_given(bias)) check_dtype(op, "bias", *bias, input.dtype());
  return conv_laid_out<Int>(a.result, input.dtype(), gives_channels_last(input, weight));
}

void kernel(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
            SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation, bool transposed,
            SymIntArrayRef output_padding, const SymInt& groups, const Tensor& out) {
  const auto a = conv_arguments<int64_t>("convolution", input, weight, or_undefined(bias), stride,
                                         padding, dilation, transposed, output_padding, groups);
  const DType dtype = computed_in("convolution", input.dtype());
  const DenseOutput dense(out, dtype);
  const Tensor x = dense_input(input, dtype), w = dense_input(weight, dtype);
  const Tensor b = is_given(bias) ? dense_input(*bias, dtype) : Tensor();
  if (transposed) {
    convolve_grad_input(a.shape, x, w, dense.tensor());
    if (b.defined()) add_bias(b, dense.tensor());
  } else {
    convolve(a.shape, x, w, b, dense.tensor());
  }
  dense.finish();
}

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// Checks the arguments of the backward and makes its results, without elements.
template <SizeType Int>
ThreeTensors new_gradients(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                           SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
                           bool transposed, SymIntArrayRef output_padding, const SymInt& groups,
                           absl::Span<const bool> output_mask) {
  const char* op = "convolution_backward";
  const Device device =
      internal::check_arguments(op, internal::tensors_of(grad_output, input, weight));
  SB_CHECK(output_mask.size() == 3, op, ": output_mask: expected 3 elements, got ",
           output_mask.size());
  const auto a = conv_arguments<Int>(op, input, weight, Tensor(), stride, padding, dilation,
                                     transposed, output_padding, groups);
  for (const SymInt& p : output_padding) {
    SB_CHECK(transposed || p == 0, op, ": output_padding: only transposed convolutions have it, ",
             "got ", shape_text(output_padding));
  }
  check_sizes<Int>(op, "grad_output", grad_output, a.result);
  check_dtype(op, "grad_output", grad_output, input.dtype());
  check_dtype(op, "weight", weight, input.dtype());
  computed_in(op, input.dtype());

  const bool channels_last = gives_channels_last(input, weight);
  const auto gradient = [&](bool wanted, SizesRef<Int> sizes, bool last) {
    if (!wanted) return Tensor();
    return internal::make_result(
        conv_laid_out<Int>({sizes.begin(), sizes.end()}, input.dtype(), last), device);
  };
  const SizesRef<Int> weights = sizes_of<Int>(weight);
  const Int channels[] = {transposed ? product_of(weights[1], Int(groups.guard_int()))
                                     : weights[0]};
  return {gradient(output_mask[0], sizes_of<Int>(input), channels_last),
          gradient(output_mask[1], weights, channels_last),
          gradient(output_mask[2], SizesRef<Int>(channels, 1), false)};
}

ThreeTensors backward_meta(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                           OptionalSymIntArrayRef, SymIntArrayRef stride, SymIntArrayRef padding,
                           SymIntArrayRef dilation, bool transposed, SymIntArrayRef output_padding,
                           const SymInt& groups, absl::Span<const bool> output_mask) {
  return by_size(any_symbolic(grad_output, input, weight), [&]<class Int>() {
    return new_gradients<Int>(grad_output, input, weight, stride, padding, dilation, transposed,
                              output_padding, groups, output_mask);
  });
}

ThreeTensors backward_cpu(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                          OptionalSymIntArrayRef, SymIntArrayRef stride, SymIntArrayRef padding,
                          SymIntArrayRef dilation, bool transposed, SymIntArrayRef output_padding,
                          const SymInt& groups, absl::Span<const bool> output_mask) {
  const ThreeTensors results =
      new_gradients<int64_t>(grad_output, input, weight, stride, padding, dilation, transposed,
                             output_padding, groups, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = results;
  const char* op = "convolution_backward";
  const auto a = conv_arguments<int64_t>(op, input, weight, Tensor(), stride, padding, dilation,
                                         transposed, output_padding, groups);
  const DType dtype = computed_in(op, input.dtype());
  const Tensor g = dense_input(grad_output, dtype);
  if (grad_input.defined()) {
    const Tensor w = dense_input(weight, dtype);
    const DenseOutput dense(grad_input, dtype);
    if (transposed) {
      convolve(a.shape, g, w, Tensor(), dense.tensor());
    } else {
      convolve_grad_input(a.shape, g, w, dense.tensor());
    }
    dense.finish();
  }
  if (grad_weight.defined()) {
    const Tensor x = dense_input(input, dtype);
    const DenseOutput dense(grad_weight, dtype);
    convolve_grad_weight(a.shape, transposed ? g : x, transposed ? x : g, dense.tensor());
    dense.finish();
  }
  if (grad_bias.defined()) {
    const DenseOutput dense(grad_bias, dtype);
    sum_channels(g, dense.tensor());
    dense.finish();
  }
  return results;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, convolution)
      .structured<by_size_rule<rule<int64_t>, rule<SymInt>>, kernel>()
      .out(convolution_out, kCopiedOut);

  define(m, _convolution)
      .composite_explicit([](const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, SymIntArrayRef stride,
                             SymIntArrayRef padding, SymIntArrayRef dilation, bool transposed,
                             SymIntArrayRef output_padding, const SymInt& groups, bool, bool, bool,
                             bool) {
        return convolution(input, weight, bias, stride, padding, dilation, transposed,
                           output_padding, groups);
      })
      .out(_convolution_out);
  define(m, _convolution_deprecated)
      .composed([](const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
                   bool transposed, SymIntArrayRef output_padding, const SymInt& groups,
                   bool benchmark, bool deterministic, bool cudnn_enabled) {
        return _convolution(input, weight, bias, stride, padding, dilation, transposed,
                            output_padding, groups, benchmark, deterministic, cudnn_enabled, true);
      });

  define(m, convolution_backward).cpu(backward_cpu).meta(backward_meta).out("out");
}

}  // namespace sb
