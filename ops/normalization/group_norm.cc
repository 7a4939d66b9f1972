#include "switchboard/ops/normalization/group_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/normalization/compute_tensors.h"
#include "switchboard/ops/normalization/parameters.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {
namespace {

using internal::NormKernels;
using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

template <SizeType Int>
void check_groups(const char* op, const Tensor& input, const OptionalTensor& weight,
                  const OptionalTensor& bias, const Int& items, const Int& channels,
                  const Int& size, int64_t groups) {
  check_defined(op, input);
  SB_CHECK(groups > 0, op, ": group: expected a positive number, got ", groups);
  const auto check = [&](const auto& truth) {
    SB_CHECK(truth, op, ": expected channels in ", groups,
             " groups of one size, got N=", size_text(items), ", C=", size_text(channels),
             ", HxW=", size_text(size));
  };
  check(items >= 0);
  check(size >= 0);
  check(channels >= 0);
  check(channels % Int(groups) == 0);
  SB_CHECK(numel_of<Int>(input) == product_of(product_of(items, channels), size), op,
           ": expected N * C * HxW elements, ", size_text(items), " * ", size_text(channels), " * ",
           size_text(size), ", got ", input.describe());
  // Without items, too.
  product_of(channels, size);
  product_of(items, Int(groups));
  const SizesRef<Int> of_channels(&channels, 1);
  internal::check_parameter_of<Int>(op, "weight", weight, of_channels, input.dtype());
  internal::check_parameter_of<Int>(op, "bias", bias, of_channels, input.dtype());
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(input.dtype()), op, ": not implemented for ",
                           to_string(input.dtype()));
}

struct Groups {
  int64_t items, channels, size, groups;

  int64_t per_group() const { return channels / groups; }
  int64_t grain() const {
    return std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, per_group() * size));
  }
};

template <SizeType Int>
std::array<BasicTensorMeta<Int>, 3> group_norm_rule(const Tensor& input,
                                                    const OptionalTensor& weight,
                                                    const OptionalTensor& bias, const SymInt& items,
                                                    const SymInt& channels, const SymInt& size,
                                                    int64_t group, double) {
  check_groups<Int>("native_group_norm", input, weight, bias, size_as<Int>(items),
                    size_as<Int>(channels), size_as<Int>(size), group);
  const BasicTensorMeta<Int> stat{{size_as<Int>(items), Int(group)}, input.dtype()};
  return {internal::meta_in_format<Int>(input), stat, stat};
}
void group_norm_kernel(const Tensor& input, const OptionalTensor& weight,
                       const OptionalTensor& bias, const SymInt& n_items, const SymInt& n_channels,
                       const SymInt& plane, int64_t group, double eps, const Tensor& out,
                       const Tensor& mean, const Tensor& rstd) {
  const int64_t items = n_items.expect_int(), size = plane.expect_int();
  const Groups shape{items, n_channels.expect_int(), size, group};
  if (items == 0) return;
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
    const int64_t n = shape.per_group() * size;
    parallel_for(0, items * group, shape.grain(), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        if (n == 0) {
          // As PyTorch: the deviation of nothing is NaN.
          m[i] = 0;
          r[i] = std::nan("");
          continue;
        }
        double mean_of_group, variance;
        kernels.moments(x + i * n, n, &mean_of_group, &variance);
        const double inverse = 1 / std::sqrt(std::max(variance, 0.0) + eps);
        m[i] = static_cast<T>(mean_of_group);
        r[i] = static_cast<T>(inverse);
        for (int64_t k = 0; k < shape.per_group(); ++k) {
          const int64_t c = i % group * shape.per_group() + k, at = i * n + k * size;
          const double factor = inverse * (w ? static_cast<double>(w[c]) : 1);
          kernels.affine(y + at, x + at, size, m[i], static_cast<T>(factor), b ? b[c] : T(0));
        }
      }
    });
  });
  output.finish();
  means.finish();
  rstds.finish();
}

// The results, yet to be filled.
template <SizeType Int>
ThreeTensors backward_results(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                              const Tensor& rstd, const OptionalTensor& weight, const Int& items,
                              const Int& channels, const Int& size, int64_t group,
                              absl::Span<const bool> output_mask) {
  constexpr const char* op = "native_group_norm_backward";
  const Device device =
      internal::check_arguments(op, internal::tensors_of(grad_out, input, mean, rstd, weight));
  check_groups<Int>(op, input, weight, std::nullopt, items, channels, size, group);
  SB_CHECK(output_mask.size() == 3, op, ": output_mask: expected 3 elements, got ",
           output_mask.size());
  SB_CHECK(numel_of<Int>(grad_out) == numel_of<Int>(input), op,
           ": grad_out: expected as many elements as input ", input.describe(), ", got ",
           grad_out.describe());
  for (const Tensor* t : {&grad_out, &mean, &rstd}) {
    SB_CHECK(t->dtype() == input.dtype(), op, ": expected tensors of ", to_string(input.dtype()),
             ", got ", t->describe());
  }
  for (const Tensor* t : {&mean, &rstd}) {
    SB_CHECK(numel_of<Int>(*t) == product_of(items, Int(group)), op,
             ": mean and rstd: expected N * group elements, ", size_text(items), " * ", group,
             ", got ", t->describe());
  }
  SB_CHECK(!(output_mask[1] || output_mask[2]) || is_given(weight), op,
           ": weight: expected a tensor, whose gradient is asked for, got none");
  ThreeTensors results;
  auto& [grad_input, grad_weight, grad_bias] = results;
  const BasicTensorMeta<Int> of_channels{{channels}, input.dtype()};
  if (output_mask[0])
    grad_input = internal::make_result(internal::meta_in_format<Int>(input), device);
  if (output_mask[1]) grad_weight = internal::make_result(of_channels, device);
  if (output_mask[2]) grad_bias = internal::make_result(of_channels, device);
  return results;
}

ThreeTensors backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                      const Tensor& rstd, const OptionalTensor& weight, const SymInt& n_items,
                      const SymInt& n_channels, const SymInt& plane, int64_t group,
                      absl::Span<const bool> output_mask) {
  const bool symbolic =
      any_symbolic(grad_out, input, mean, rstd, weight, n_items, n_channels) || any_symbolic(plane);
  const ThreeTensors results = by_size(symbolic && !has_data(input), [&]<class Int>() {
    return backward_results<Int>(grad_out, input, mean, rstd, weight, size_as<Int>(n_items),
                                 size_as<Int>(n_channels), size_as<Int>(plane), group, output_mask);
  });
  if (!has_data(input)) return results;
  const auto& [grad_input, grad_weight, grad_bias] = results;
  const int64_t items = n_items.expect_int(), channels = n_channels.expect_int();
  const int64_t size = plane.expect_int();
  const Groups shape{items, channels, size, group};

  const DType dtype = compute_dtype(input.dtype());
  const internal::ComputeInput in(input, dtype);
  const internal::ComputeInput grad(grad_out, dtype);
  const internal::ComputeInput means(mean, dtype), rstds(rstd, dtype);
  const internal::ComputeInput weights(weight, dtype);
  internal::visit_compute(dtype, [&]<class T>() {
    const NormKernels<T>& kernels = internal::norm_kernels<T>();
    const T* const x = in.template data<T>();
    const T* const g = grad.template data<T>();
    const T* const m = means.template data<T>();
    const T* const r = rstds.template data<T>();
    const T* const w = weights.template data<T>();
    std::optional<internal::ComputeOutput> output;
    if (grad_input.defined()) output.emplace(grad_input, dtype);
    T* const to = output ? output->template data<T>() : nullptr;
    // Of each channel of each item, the sums of grad and of grad * (x - mean).
    std::vector<double> sums(static_cast<size_t>(2 * items * channels));
    const double count = static_cast<double>(shape.per_group() * size);
    parallel_for(0, items * group, shape.grain(), [&](int64_t from, int64_t end) {
      for (int64_t i = from; i < end; ++i) {
        double sum = 0, product = 0;
        const int64_t first = i * shape.per_group();
        const auto weight_of = [&](int64_t k) {
          return w ? static_cast<double>(w[(first + k) % channels]) : 1;
        };
        for (int64_t k = 0; k < shape.per_group(); ++k) {
          const int64_t at = (first + k) * size;
          double* const pair = sums.data() + 2 * (first + k);
          kernels.sum_pairs(g + at, x + at, size, m[i], pair);
          sum += pair[0] * weight_of(k);
          product += pair[1] * weight_of(k);
        }
        if (!to) continue;
        const double inverse = static_cast<double>(r[i]);
        const double slope = -product / count * inverse * inverse * inverse;
        const double shift = -sum / count * inverse - slope * static_cast<double>(m[i]);
        for (int64_t k = 0; k < shape.per_group(); ++k) {
          const int64_t at = (first + k) * size;
          kernels.affine2(to + at, g + at, x + at, size, static_cast<T>(inverse * weight_of(k)),
                          static_cast<T>(slope), static_cast<T>(shift));
        }
      }
    });
    if (output) output->finish();
    const auto store = [&](const Tensor& out, bool of_weight) {
      if (!out.defined()) return;
      const internal::ComputeOutput result(out, dtype);
      for (int64_t c = 0; c < channels; ++c) {
        double total = 0;
        for (int64_t item = 0; item < items; ++item) {
          const double* const pair = sums.data() + 2 * (item * channels + c);
          const int64_t i = item * group + c / shape.per_group();
          total += of_weight ? pair[1] * static_cast<double>(r[i]) : pair[0];
        }
        result.template data<T>()[c] = static_cast<T>(total);
      }
      result.finish();
    };
    store(grad_weight, true);
    store(grad_bias, false);
  });
  return results;
}

Tensor group_norm_composite(const Tensor& input, int64_t num_groups, const OptionalTensor& weight,
                            const OptionalTensor& bias, double eps, bool) {
  constexpr const char* op = "group_norm";
  check_defined(op, input);
  SB_CHECK(input.dim() >= 2, op, ": expected at least 2 dimensions, got ", input.describe());
  SB_CHECK(num_groups > 0, op, ": num_groups: expected a positive number, got ", num_groups);
  const SymInt channels = input.sym_size(1);
  SB_CHECK(channels % num_groups == 0, op, ": num_groups: expected a divisor of ",
           size_text(channels), " channels, got ", num_groups);
  const SymIntArrayRef of_channels(absl::Span<const SymInt>(&channels, 1));
  internal::check_parameter_of<SymInt>(op, "weight", weight, of_channels, input.dtype());
  internal::check_parameter_of<SymInt>(op, "bias", bias, of_channels, input.dtype());
  const SymInt size = sym_product(input.sym_sizes().subspan(2));
  SB_CHECK(size > 0, op, ": input: expected elements in each channel, got ", input.describe());
  const Tensor in = contiguous(input, suggest_memory_format(input));
  return std::get<0>(
      native_group_norm(in, weight, bias, input.sym_size(0), channels, size, num_groups, eps));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, native_group_norm)
      .structured<by_size_rule<group_norm_rule<int64_t>, group_norm_rule<SymInt>>,
                  group_norm_kernel>()
      .out("out");
  define(m, native_group_norm_backward).cpu_and_meta(backward).out("out");
  define(m, group_norm).composed(group_norm_composite);
}

}  // namespace sb
