#include "switchboard/ops/normalization/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/normalization/compute_tensors.h"
#include "switchboard/ops/normalization/parameters.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/shape/memory_format.h"

namespace sb {
namespace {

using internal::check_parameter_of;
using internal::NormKernels;
using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// What the channels' parameters have for dtype: the input's, or float32 for 16-bit inputs where any
// of them has that.
DType parameter_dtype(const Tensor& input, std::initializer_list<const OptionalTensor*> all) {
  if (itemsize(input.dtype()) != 2) return input.dtype();
  for (const OptionalTensor* t : all) {
    if (is_given(*t) && (*t)->dtype() == DType::Float32) return DType::Float32;
  }
  return input.dtype();
}
void check_input(const char* op, const Tensor& input) {
  check_defined(op, input);
  wrap_dim(op, 1, input.dim());
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(input.dtype()), op, ": not implemented for ",
                           to_string(input.dtype()));
}

// How the channels lie in memory: in planes of adjacent elements, or one beside the other.
struct Channels {
  MemoryFormat format;
  int64_t channels;
  int64_t planes;  // batch items
  int64_t size;    // of a plane
  bool adjacent;

  explicit Channels(const Tensor& input)
      : format(suggest_memory_format(input)), channels(input.sizes()[1]), planes(input.sizes()[0]) {
    size = checked_numel(input.sizes().subspan(2));
    adjacent = format != MemoryFormat::Contiguous || size == 1;
  }
  int64_t per_channel() const { return planes * size; }

  // Calls run(offset, channel) for each plane, or each(offset) for each row of channels.
  template <class Run, class Each>
  void for_each(const Run& run, const Each& each) const {
    const int64_t length = adjacent ? channels : size;
    const int64_t runs = adjacent ? planes * size : planes * channels;
    if (length == 0) return;
    parallel_for(0, runs, std::max<int64_t>(1, kElementGrain / length),
                 [&](int64_t from, int64_t to) {
                   for (int64_t i = from; i < to; ++i) {
                     if (adjacent) {
                       each(i * length);
                     } else {
                       run(i * length, i % channels);
                     }
                   }
                 });
  }
};

DimSet all_but_channels() { return ~DimSet().set(1); }

template <class T>
std::vector<T> vector_of(const OptionalTensor& t, int64_t n, T otherwise) {
  std::vector<T> values(static_cast<size_t>(n), otherwise);
  if (is_given(t) && t->numel() == n) {
    const internal::ComputeInput contiguous(*t, dtype_of<T>);
    if (n != 0) std::copy_n(contiguous.template data<T>(), n, values.begin());
  }
  return values;
}
template <class T>
void store(const Tensor& out, const std::vector<T>& values) {
  const internal::ComputeOutput output(out, dtype_of<T>);
  if (!values.empty()) {
    std::copy(values.begin(), values.end(), output.template data<T>());
  }
  output.finish();
}

// The channels as the shape of what there is one of for each.
template <SizeType Int>
SizesRef<Int> one_each(const Tensor& input) {
  return sizes_of<Int>(input).subspan(1, 1);
}

template <SizeType Int>
std::array<BasicTensorMeta<Int>, 3> forward_rule(const Tensor& input, const OptionalTensor& weight,
                                                 const OptionalTensor& bias,
                                                 const OptionalTensor& running_mean,
                                                 const OptionalTensor& running_var, bool training,
                                                 double, double) {
  constexpr const char* op = "native_batch_norm";
  check_input(op, input);
  const SizesRef<Int> shape = one_each<Int>(input);
  const DType dtype = parameter_dtype(input, {&weight, &bias, &running_mean, &running_var});
  check_parameter_of<Int>(op, "weight", weight, shape, dtype);
  check_parameter_of<Int>(op, "bias", bias, shape, dtype);
  check_parameter_of<Int>(op, "running_mean", running_mean, shape, dtype);
  check_parameter_of<Int>(op, "running_var", running_var, shape, dtype);
  SB_CHECK(training || (is_given(running_mean) && is_given(running_var)), op,
           ": running_mean and running_var: expected tensors where not training, got none");
  const BasicTensorMeta<Int> saved{{training ? shape[0] : Int(0)}, dtype};
  return {internal::meta_in_format<Int>(input), saved, saved};
}
constexpr auto kForwardRule = by_size_rule<forward_rule<int64_t>, forward_rule<SymInt>>;

void forward_kernel(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                    const OptionalTensor& running_mean, const OptionalTensor& running_var,
                    bool training, double momentum, double eps, const Tensor& out,
                    const Tensor& save_mean, const Tensor& save_invstd) {
  const Channels layout(input);
  const int64_t n = layout.channels;
  const DType dtype = compute_dtype(input.dtype());
  const internal::ComputeInput in(input, dtype, layout.format);
  const internal::ComputeOutput output(out, dtype, layout.format);
  internal::visit_compute(dtype, [&]<class T>() {
    std::vector<T> mean, var;
    if (training) {
      const Tensor means = empty_on(input.device(), {n}, dtype),
                   vars = empty_on(input.device(), {n}, dtype);
      reduce_into(Reduction::Mean, in.tensor(), all_but_channels(), dtype, means);
      reduce_into(Reduction::Variance, in.tensor(), all_but_channels(), dtype, vars,
                  {.correction = 0});
      mean = vector_of<T>(means, n, 0);
      var = vector_of<T>(vars, n, 0);
    } else {
      mean = vector_of<T>(running_mean, n, 0);
      var = vector_of<T>(running_var, n, 1);
    }
    std::vector<T> a(mean.size()), invstd(mean.size());
    const std::vector<T> weights = vector_of<T>(weight, n, 1), biases = vector_of<T>(bias, n, 0);
    for (size_t c = 0; c < mean.size(); ++c) {
      const double inverse = 1 / std::sqrt(static_cast<double>(var[c]) + eps);
      invstd[c] = static_cast<T>(inverse);
      a[c] = static_cast<T>(inverse * static_cast<double>(weights[c]));
    }
    const NormKernels<T>& kernels = internal::norm_kernels<T>();
    const T* const x = in.template data<T>();
    T* const y = output.template data<T>();
    layout.for_each(
        [&](int64_t at, int64_t channel) {
          const size_t c = static_cast<size_t>(channel);
          kernels.affine(y + at, x + at, layout.size, mean[c], a[c], biases[c]);
        },
        [&](int64_t at) {
          kernels.affine_each(y + at, x + at, n, mean.data(), a.data(), biases.data());
        });
    if (!training) return;
    store(save_mean, mean);
    store(save_invstd, invstd);
    const double count = static_cast<double>(layout.per_channel());
    const auto update = [&](const OptionalTensor& running, const std::vector<T>& now,
                            double scale) {
      if (!is_given(running)) return;
      std::vector<T> values = vector_of<T>(running, n, 0);
      for (size_t c = 0; c < values.size(); ++c) {
        values[c] = static_cast<T>(momentum * (static_cast<double>(now[c]) * scale) +
                                   (1 - momentum) * static_cast<double>(values[c]));
      }
      store(*running, values);
    };
    update(running_mean, mean, 1);
    update(running_var, var, count / (count - 1));
  });
  output.finish();
}

// Checks the arguments of the backward and makes its results, without elements.
template <SizeType Int>
ThreeTensors new_gradients(const Tensor& grad_out, const Tensor& input,
                           const OptionalTensor& weight, const OptionalTensor& running_mean,
                           const OptionalTensor& running_var, const OptionalTensor& save_mean,
                           const OptionalTensor& save_invstd, bool train,
                           absl::Span<const bool> output_mask) {
  constexpr const char* op = "native_batch_norm_backward";
  const Device device =
      internal::check_arguments(op, internal::tensors_of(grad_out, input, weight, running_mean,
                                                         running_var, save_mean, save_invstd));
  check_input(op, input);
  SB_CHECK(output_mask.size() == 3, op, ": output_mask: expected 3 elements, got ",
           output_mask.size());
  const auto is_like_input = [&](const auto& truth) {
    SB_CHECK(truth, op, ": grad_out: expected a tensor as input, ", input.describe(), ", got ",
             grad_out.describe());
  };
  is_like_input(equal_sizes<Int>(sizes_of<Int>(grad_out), sizes_of<Int>(input)));
  is_like_input(grad_out.dtype() == input.dtype());
  const SizesRef<Int> shape = one_each<Int>(input);
  const DType parameters =
      parameter_dtype(input, {&weight, &running_mean, &running_var, &save_mean, &save_invstd});
  // What is not used may have any shape.
  const std::optional<SizesRef<Int>> running = train ? std::nullopt : std::optional(shape);
  const std::optional<SizesRef<Int>> saved = train ? std::optional(shape) : std::nullopt;
  check_parameter_of<Int>(op, "weight", weight, shape, parameters);
  check_parameter_of<Int>(op, "running_mean", running_mean, running, parameters);
  check_parameter_of<Int>(op, "running_var", running_var, running, parameters);
  check_parameter_of<Int>(op, "save_mean", save_mean, saved, parameters);
  check_parameter_of<Int>(op, "save_invstd", save_invstd, saved, parameters);
  SB_CHECK(train ? is_given(save_mean) && is_given(save_invstd)
                 : is_given(running_mean) && is_given(running_var),
           op, ": expected ", train ? "save_mean and save_invstd" : "running_mean and running_var",
           ", got none");
  ThreeTensors results;
  auto& [grad_input, grad_weight, grad_bias] = results;
  const BasicTensorMeta<Int> parameter{{shape[0]}, parameters};
  if (output_mask[0])
    grad_input = internal::make_result(internal::meta_in_format<Int>(input), device);
  if (output_mask[1]) grad_weight = internal::make_result(parameter, device);
  if (output_mask[2]) grad_bias = internal::make_result(parameter, device);
  return results;
}

ThreeTensors backward_meta(const Tensor& grad_out, const Tensor& input,
                           const OptionalTensor& weight, const OptionalTensor& running_mean,
                           const OptionalTensor& running_var, const OptionalTensor& save_mean,
                           const OptionalTensor& save_invstd, bool train, double,
                           absl::Span<const bool> output_mask) {
  const bool symbolic =
      any_symbolic(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd);
  return by_size(symbolic, [&]<class Int>() {
    return new_gradients<Int>(grad_out, input, weight, running_mean, running_var, save_mean,
                              save_invstd, train, output_mask);
  });
}

ThreeTensors backward_cpu(const Tensor& grad_out, const Tensor& input, const OptionalTensor& weight,
                          const OptionalTensor& running_mean, const OptionalTensor& running_var,
                          const OptionalTensor& save_mean, const OptionalTensor& save_invstd,
                          bool train, double eps, absl::Span<const bool> output_mask) {
  const ThreeTensors results =
      new_gradients<int64_t>(grad_out, input, weight, running_mean, running_var, save_mean,
                             save_invstd, train, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = results;
  const Channels layout(input);
  const int64_t n = layout.channels;
  const DType dtype = compute_dtype(input.dtype());
  const internal::ComputeInput in(input, dtype, layout.format);
  const internal::ComputeInput grad(grad_out, dtype, layout.format);
  internal::visit_compute(dtype, [&]<class T>() {
    const NormKernels<T>& kernels = internal::norm_kernels<T>();
    const T* const x = in.template data<T>();
    const T* const g = grad.template data<T>();
    const std::vector<T> mean = vector_of<T>(train ? save_mean : running_mean, n, 0);
    std::vector<T> invstd = vector_of<T>(train ? save_invstd : running_var, n, 0);
    if (!train) {
      for (T& v : invstd) v = static_cast<T>(1 / std::sqrt(static_cast<double>(v) + eps));
    }
    const std::vector<T> weights = vector_of<T>(weight, n, 1);

    // Of each channel, the sums of grad and of grad * (x - mean).
    std::vector<double> sums(mean.size()), products(mean.size());
    if (layout.adjacent) {
      constexpr int64_t kColumns = 16;
      parallel_for(0, (n + kColumns - 1) / kColumns, 1, [&](int64_t from, int64_t to) {
        for (int64_t c = from * kColumns; c < std::min(n, to * kColumns); c += kColumns) {
          kernels.sum_pair_columns(g + c, x + c, layout.per_channel(), std::min(kColumns, n - c), n,
                                   mean.data() + c, sums.data() + c, products.data() + c);
        }
      });
    } else {
      parallel_for(0, n, 1, [&](int64_t from, int64_t to) {
        for (int64_t c = from; c < to; ++c) {
          const size_t i = static_cast<size_t>(c);
          double pair[2] = {0, 0};
          for (int64_t item = 0; item < layout.planes; ++item) {
            const int64_t at = (item * n + c) * layout.size;
            kernels.sum_pairs(g + at, x + at, layout.size, mean[i], pair);
          }
          sums[i] = pair[0];
          products[i] = pair[1];
        }
      });
    }

    // grad_input = a * grad + b * x + c.
    std::vector<T> a(mean.size()), b(mean.size()), c(mean.size()), of_weight(mean.size()),
        of_bias(mean.size());
    const double count = static_cast<double>(layout.per_channel());
    for (size_t i = 0; i < mean.size(); ++i) {
      const double inverse = static_cast<double>(invstd[i]);
      const double factor = inverse * static_cast<double>(weights[i]);
      const double slope = train ? -products[i] / count * inverse * inverse * factor : 0;
      a[i] = static_cast<T>(factor);
      b[i] = static_cast<T>(slope);
      c[i] = static_cast<T>(train ? -sums[i] / count * factor - slope * static_cast<double>(mean[i])
                                  : 0);
      of_weight[i] = static_cast<T>(products[i] * inverse);
      of_bias[i] = static_cast<T>(sums[i]);
    }
    if (grad_weight.defined()) store(grad_weight, of_weight);
    if (grad_bias.defined()) store(grad_bias, of_bias);
    if (!grad_input.defined() || input.numel() == 0) return;
    const internal::ComputeOutput output(grad_input, dtype, layout.format);
    T* const to = output.template data<T>();
    layout.for_each(
        [&](int64_t at, int64_t channel) {
          const size_t i = static_cast<size_t>(channel);
          kernels.affine2(to + at, g + at, x + at, layout.size, a[i], b[i], c[i]);
        },
        [&](int64_t at) {
          kernels.affine2_each(to + at, g + at, x + at, n, a.data(), b.data(), c.data());
        });
    output.finish();
  });
  return results;
}

template <bool with_data>
ThreeTensors forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                     const OptionalTensor& running_mean, const OptionalTensor& running_var,
                     bool training, double momentum, double eps) {
  return structured_form<kForwardRule, forward_kernel>(native_batch_norm, with_data)(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
}
template <bool with_data>
ThreeTensors legit(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                   const Tensor& running_mean, const Tensor& running_var, bool training,
                   double momentum, double eps) {
  return forward<with_data>(input, weight, bias, running_mean, running_var, training, momentum,
                            eps);
}
template <bool with_data>
ThreeTensors legit_no_stats(const Tensor& input, const OptionalTensor& weight,
                            const OptionalTensor& bias, bool training, double momentum,
                            double eps) {
  return forward<with_data>(input, weight, bias, std::nullopt, std::nullopt, training, momentum,
                            eps);
}
// On other devices, whose fallbacks go by the schema: native_batch_norm's does not say that it
// writes to the running statistics.
ThreeTensors forward_by_legit(const Tensor& input, const OptionalTensor& weight,
                              const OptionalTensor& bias, const OptionalTensor& running_mean,
                              const OptionalTensor& running_var, bool training, double momentum,
                              double eps) {
  const bool has_mean = is_given(running_mean), has_var = is_given(running_var);
  if (!has_mean && !has_var) {
    return _native_batch_norm_legit_no_stats(input, weight, bias, training, momentum, eps);
  }
  SB_CHECK(training || (has_mean && has_var),
           "native_batch_norm: running_mean and running_var: expected tensors where not training, "
           "got one");
  // Nobody sees what is written in place of one that is not given.
  return _native_batch_norm_legit(
      input, weight, bias, has_mean ? *running_mean : clone(*running_var),
      has_var ? *running_var : clone(*running_mean), training, momentum, eps);
}
ThreeTensors legit_no_training(const Tensor& input, const OptionalTensor& weight,
                               const OptionalTensor& bias, const Tensor& running_mean,
                               const Tensor& running_var, double momentum, double eps) {
  return native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
}
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> legit_functional(
    const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
    const Tensor& running_mean, const Tensor& running_var, bool training, double momentum,
    double eps) {
  const Tensor mean_out = clone(running_mean), var_out = clone(running_var);
  auto [out, mean, invstd] =
      native_batch_norm(input, weight, bias, mean_out, var_out, training, momentum, eps);
  return {out, mean, invstd, mean_out, var_out};
}

// The outs are checked before the running statistics are written to, hence copies of those.
ThreeTensors forward_out(const Tensor& input, const OptionalTensor& weight,
                         const OptionalTensor& bias, const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, bool training, double momentum,
                         double eps, const Tensor& out, const Tensor& save_mean,
                         const Tensor& save_invstd) {
  constexpr const char* op = "native_batch_norm.out";
  const auto copy_of = [&](const OptionalTensor& t) {
    return training && is_given(t) ? OptionalTensor(clone(*t)) : t;
  };
  const OptionalTensor mean = copy_of(running_mean), var = copy_of(running_var);
  const ThreeTensors results =
      native_batch_norm(input, weight, bias, mean, var, training, momentum, eps);
  const std::pair<const Tensor&, const Tensor&> pairs[] = {{std::get<0>(results), out},
                                                           {std::get<1>(results), save_mean},
                                                           {std::get<2>(results), save_invstd}};
  for (const auto& [result, to] : pairs) check_result_fits_out(op, result, to, kCopiedOut);
  internal::check_outs_apart(op, {&out, &save_mean, &save_invstd});
  for (const auto& [result, to] : pairs) copy_result_to_out(op, result, to, kCopiedOut);
  const auto write_back = [&](const OptionalTensor& running, const OptionalTensor& now) {
    if (training && is_given(running)) copy_(*running, *now);
  };
  write_back(running_mean, mean);
  write_back(running_var, var);
  return {out, save_mean, save_invstd};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, native_batch_norm)
      .structured<kForwardRule, forward_kernel>()
      .composite_explicit(forward_by_legit);
  define(m, native_batch_norm_backward).cpu(backward_cpu).meta(backward_meta).out("out");
  define(m, native_batch_norm_out).composite_explicit(forward_out);
  define(m, _native_batch_norm_legit).cpu(legit<true>).meta(legit<false>);
  define(
      m,
      "aten::_native_batch_norm_legit.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
      "running_mean, Tensor(b!) running_var, bool training, float momentum, float eps, *, "
      "Tensor(d!) out, Tensor(e!) save_mean, Tensor(f!) save_invstd) -> (Tensor(d!), Tensor(e!), "
      "Tensor(f!))")
      .composite_explicit([](const Tensor& input, const OptionalTensor& weight,
                             const OptionalTensor& bias, const Tensor& mean, const Tensor& var,
                             bool training, double momentum, double eps, const Tensor& out,
                             const Tensor& save_mean, const Tensor& save_invstd) {
        return forward_out(input, weight, bias, mean, var, training, momentum, eps, out, save_mean,
                           save_invstd);
      });
  define(m, _native_batch_norm_legit_no_stats)
      .cpu(legit_no_stats<true>)
      .meta(legit_no_stats<false>)
      .out("no_stats_out", {"out", "save_mean", "save_invstd"});
  define(m, _native_batch_norm_legit_no_training).composite_explicit(legit_no_training).out("out");
  define(m, _native_batch_norm_legit_functional).composite_explicit(legit_functional);
}

}  // namespace sb
