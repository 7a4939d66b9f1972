#include "switchboard/ops/normalization/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/normalization/compute_tensors.h"
#include "switchboard/ops/normalization/parameters.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_text.h"

namespace sb {
namespace {

using internal::NormKernels;
using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// The input as `rows` runs of `columns` elements.
template <SizeType Int>
struct Shape {
  Int rows = 1;
  Int columns = 1;
  SizeVector<Int> stat_sizes;

  Shape(const char* op, const Tensor& input, SizesRef<Int> normalized, const OptionalTensor& weight,
        const OptionalTensor& bias) {
    check_defined(op, input);
    SB_CHECK(!normalized.empty(), op,
             ": normalized_shape: expected at least one dimension, got none");
    const SizesRef<Int> sizes = sizes_of<Int>(input);
    const auto fits = [&](const auto& truth) {
      SB_CHECK(truth, op, ": normalized_shape: expected the last dimensions of input, ",
               input.describe(), ", got ", shape_text(normalized));
    };
    fits(sizes.size() >= normalized.size());
    fits(equal_sizes<Int>(sizes.subspan(sizes.size() - normalized.size()), normalized));
    internal::check_parameter_of<Int>(op, "weight", weight, normalized, input.dtype());
    internal::check_parameter_of<Int>(op, "bias", bias, normalized, input.dtype());
    SB_CHECK_NOT_IMPLEMENTED(is_floating_point(input.dtype()), op, ": not implemented for ",
                             to_string(input.dtype()));
    for (size_t d = 0; d < sizes.size(); ++d) {
      const bool goes = d >= sizes.size() - normalized.size();
      Int& product = goes ? columns : rows;
      product = product_of(product, sizes[d]);
      stat_sizes.push_back(goes ? Int(1) : sizes[d]);
    }
  }
};

int64_t row_grain(int64_t columns) {
  return std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, columns));
}

template <SizeType Int>
std::array<BasicTensorMeta<Int>, 3> layer_norm_rule(const Tensor& input, SizesRef<Int> normalized,
                                                    const OptionalTensor& weight,
                                                    const OptionalTensor& bias, double) {
  const Shape<Int> shape("native_layer_norm", input, normalized, weight, bias);
  const BasicTensorMeta<Int> stat = {shape.stat_sizes, input.dtype()};
  return {BasicTensorMeta<Int>{size_vector<Int>(input), input.dtype()}, stat, stat};
}
void layer_norm_kernel(const Tensor& input, IntArrayRef, const OptionalTensor& weight,
                       const OptionalTensor& bias, double eps, const Tensor& out,
                       const Tensor& mean, const Tensor& rstd) {
  const int64_t rows = mean.numel(), n = rows == 0 ? 0 : input.numel() / rows;
  if (rows == 0) return;
  const DType dtype = compute_dtype(input.dtype());
  const internal::ComputeInput in(input, dtype);
  const internal::ComputeInput weights(weight, dtype);
  const internal::ComputeInput biases(bias, dtype);
  const internal::ComputeOutput output(out, dtype), means(mean, dtype), rstds(rstd, dtype);
  internal::visit_compute(dtype, [&]<class T>() {
    const NormKernels<T>& kernels = internal::norm_kernels<T>();
    const T* const x = in.template data<T>();
    T* const y = output.template data<T>();
    T* const m = means.template data<T>();
    T* const r = rstds.template data<T>();
    const T* const w = weights.template data<T>();
    const T* const b = biases.template data<T>();
    parallel_for(0, rows, row_grain(n), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) {
        if (n == 0) {
          // As PyTorch: the deviation of nothing is NaN.
          m[row] = 0;
          r[row] = std::nan("");
          continue;
        }
        double mean_of_row, variance;
        kernels.moments(x + row * n, n, &mean_of_row, &variance);
        m[row] = static_cast<T>(mean_of_row);
        r[row] = static_cast<T>(1 / std::sqrt(std::max(variance, 0.0) + eps));
        kernels.layer_norm(y + row * n, x + row * n, n, m[row], r[row], w, b);
      }
    });
  });
  output.finish();
  means.finish();
  rstds.finish();
}

ThreeTensors forward_meta(const Tensor& input, SymIntArrayRef normalized,
                          const OptionalTensor& weight, const OptionalTensor& bias, double eps) {
  const Device device = internal::check_arguments("aten::native_layer_norm",
                                                  internal::tensors_of(input, weight, bias));
  return by_size(any_symbolic(input, normalized, weight, bias), [&]<class Int>() -> ThreeTensors {
    const auto [out, mean, rstd] =
        layer_norm_rule<Int>(input, sizes_as<Int>(normalized), weight, bias, eps);
    return {internal::make_result(out, device), internal::make_result(mean, device),
            internal::make_result(rstd, device)};
  });
}

// Checks the arguments of the backward and makes its results, without elements.
template <SizeType Int>
ThreeTensors new_gradients(const Tensor& grad_out, const Tensor& input, SizesRef<Int> normalized,
                           const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                           const OptionalTensor& bias, absl::Span<const bool> output_mask) {
  constexpr const char* op = "native_layer_norm_backward";
  const Device device = internal::check_arguments(
      op, internal::tensors_of(grad_out, input, mean, rstd, weight, bias));
  const Shape<Int> shape(op, input, normalized, weight, bias);
  SB_CHECK(equal_sizes<Int>(sizes_of<Int>(grad_out), sizes_of<Int>(input)), op,
           ": grad_out: expected the shape of input, ", input.describe(), ", got ",
           grad_out.describe());
  for (const Tensor* t : {&grad_out, &mean, &rstd}) {
    SB_CHECK(t->dtype() == input.dtype(), op, ": expected tensors of ", to_string(input.dtype()),
             ", got ", t->describe());
  }
  for (const Tensor* t : {&mean, &rstd}) {
    SB_CHECK(numel_of<Int>(*t) == shape.rows, op, ": mean and rstd: expected ",
             size_text(shape.rows), " elements, got ", mean.describe(), " and ", rstd.describe());
  }
  SB_CHECK(output_mask.size() == 3, op, ": output_mask: expected 3 elements, got ",
           output_mask.size());
  const auto wanted = [&](bool is, SizesRef<Int> sizes) {
    return is ? internal::make_result(
                    BasicTensorMeta<Int>{{sizes.begin(), sizes.end()}, input.dtype()}, device)
              : Tensor();
  };
  SB_CHECK(!output_mask[1] || is_given(weight), op,
           ": weight: expected a tensor, whose gradient is "
           "asked for, got none");
  return {wanted(output_mask[0], sizes_of<Int>(input)), wanted(output_mask[1], normalized),
          wanted(output_mask[2], normalized)};
}

ThreeTensors backward_meta(const Tensor& grad_out, const Tensor& input, SymIntArrayRef normalized,
                           const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                           const OptionalTensor& bias, absl::Span<const bool> output_mask) {
  return by_size(any_symbolic(grad_out, input, mean, rstd, normalized, weight, bias),
                 [&]<class Int>() {
                   return new_gradients<Int>(grad_out, input, sizes_as<Int>(normalized), mean, rstd,
                                             weight, bias, output_mask);
                 });
}

ThreeTensors backward_cpu(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized,
                          const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                          const OptionalTensor& bias, absl::Span<const bool> output_mask) {
  const ThreeTensors results =
      new_gradients<int64_t>(grad_out, input, normalized, mean, rstd, weight, bias, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = results;
  const int64_t n = checked_numel(normalized), rows = mean.numel();
  const DType dtype = compute_dtype(input.dtype());
  const internal::ComputeInput grads(grad_out, dtype);
  const internal::ComputeInput in(input, dtype);
  const internal::ComputeInput means(mean, dtype);
  const internal::ComputeInput rstds(rstd, dtype);
  const internal::ComputeInput weights(weight, dtype);
  internal::visit_compute(dtype, [&]<class T>() {
    const NormKernels<T>& kernels = internal::norm_kernels<T>();
    const T* const g = grads.template data<T>();
    const T* const x = in.template data<T>();
    const T* const m = means.template data<T>();
    const T* const r = rstds.template data<T>();
    const T* const w = weights.template data<T>();
    if (output_mask[0] && input.numel() != 0) {
      const internal::ComputeOutput output(grad_input, dtype);
      T* const to = output.template data<T>();
      parallel_for(0, rows, row_grain(n), [&](int64_t from, int64_t end) {
        for (int64_t row = from; row < end; ++row) {
          kernels.layer_norm_backward(to + row * n, g + row * n, x + row * n, n, m[row], r[row], w);
        }
      });
      output.finish();
    }
    if (!(output_mask[1] || output_mask[2]) || n == 0) return;
    std::vector<double> of_weight(static_cast<size_t>(n)), of_bias(static_cast<size_t>(n));
    constexpr int64_t kColumns = 64;
    parallel_for(0, (n + kColumns - 1) / kColumns, 1, [&](int64_t from, int64_t to) {
      for (int64_t c = from * kColumns; c < std::min(n, to * kColumns); c += kColumns) {
        kernels.sum_pair_columns_by_row(g + c, x + c, rows, std::min(kColumns, n - c), n, m, r,
                                        of_bias.data() + c, of_weight.data() + c);
      }
    });
    const auto store = [&](const Tensor& to, const std::vector<double>& from) {
      if (!to.defined()) return;
      const internal::ComputeOutput output(to, dtype);
      std::transform(from.begin(), from.end(), output.template data<T>(),
                     [](double v) { return static_cast<T>(v); });
      output.finish();
    };
    store(grad_weight, of_weight);
    store(grad_bias, of_bias);
  });
  return results;
}

Tensor layer_norm_composite(const Tensor& input, SymIntArrayRef normalized,
                            const OptionalTensor& weight, const OptionalTensor& bias, double eps,
                            bool) {
  return std::get<0>(native_layer_norm(input, normalized, weight, bias, eps));
}

// The result, and the reciprocal root of the mean square.
std::tuple<Tensor, Tensor> rms_norm_and_root(const Tensor& input, SymIntArrayRef normalized,
                                             const OptionalTensor& weight,
                                             std::optional<double> eps) {
  check_defined("rms_norm", input);
  const auto last = static_cast<int64_t>(normalized.size());
  bool fits = last > 0 && last <= input.dim();
  for (int64_t d = 1; fits && d <= last; ++d)
    fits = same_size(input.sym_size(-d), normalized[static_cast<size_t>(last - d)]);
  SB_CHECK(fits, "rms_norm: argument normalized_shape: expected the last sizes of ",
           input.describe(), ", got ", shape_text(normalized));
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(input.dtype()) || is_complex(input.dtype()),
                           "rms_norm: argument input: expected floating point, got ",
                           input.describe());
  if (is_given(weight)) {
    SB_CHECK(weight->dim() == last, "rms_norm: argument weight: expected the shape ",
             shape_text(normalized), ", got ", weight->describe());
    for (int64_t d = 0; d < last; ++d) {
      SB_CHECK(weight->sym_size(d) == normalized[static_cast<size_t>(d)],
               "rms_norm: argument weight: expected the shape ", shape_text(normalized), ", got ",
               weight->describe());
    }
  }
  const DType dtype = compute_dtype(input.dtype());
  const double smallest = dtype == DType::Float64 || dtype == DType::Complex128
                              ? std::numeric_limits<double>::epsilon()
                              : std::numeric_limits<float>::epsilon();
  std::vector<int64_t> dims;
  for (int64_t d = -last; d < 0; ++d) dims.push_back(d);
  const Tensor dense = contiguous(input);
  const Tensor x = input.dtype() == dtype ? dense : to_dtype(dense, dtype);
  const Tensor squares = mean_dim(mul(x, x), dims, true);
  const Tensor root = rsqrt(add_Scalar(squares, eps.value_or(smallest)));
  Tensor result = mul(x, root);
  if (is_given(weight)) result = mul(result, *weight);
  return {result.dtype() == input.dtype() ? result : to_dtype(result, input.dtype()), root};
}
Tensor rms_norm_composite(const Tensor& input, SymIntArrayRef normalized,
                          const OptionalTensor& weight, std::optional<double> eps) {
  return std::get<0>(rms_norm_and_root(input, normalized, weight, eps));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, rms_norm).composed(rms_norm_composite);
  define(m,
         "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) "
         "-> (Tensor, Tensor)")
      .composed([](const Tensor& input, IntArrayRef normalized, const OptionalTensor& weight,
                   std::optional<double> eps) {
        const SymDimVector sizes(normalized.begin(), normalized.end());
        return rms_norm_and_root(input, SymIntArrayRef(sizes), weight, eps);
      });
  define(m, native_layer_norm)
      .cpu(structured_form<layer_norm_rule<int64_t>, layer_norm_kernel>(native_layer_norm, true))
      .meta(forward_meta)
      .out("out");
  define(m, native_layer_norm_backward).cpu(backward_cpu).meta(backward_meta).out("out");
  define(m, layer_norm).composed(layer_norm_composite);
}

}  // namespace sb
