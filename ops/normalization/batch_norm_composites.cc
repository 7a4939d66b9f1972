// batch_norm and instance_norm, which native_batch_norm computes.

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/normalization/parameters.h"
#include "switchboard/ops/reductions.h"
#include "switchboard/ops/repeat.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// As `torch._batch_norm_impl_index` without cuDNN and MIOpen: the index is 0.
std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t> impl_index(
    const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
    const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training,
    double momentum, double eps, bool) {
  constexpr const char* op = "batch_norm";
  check_defined(op, input);
  wrap_dim(op, 1, input.dim());
  SB_CHECK(training || (is_given(running_mean) && is_given(running_var)), op,
           ": running_mean and running_var must be defined in evaluation mode");
  const Tensor reserve = new_empty(input, {0}, DType::UInt8);
  if (input.numel() == 0) {
    Tensor out = clone(input);
    if (is_given(weight)) out = mul(out, sb::select(*weight, 0, 0));
    if (is_given(bias)) out = add(out, sb::select(*bias, 0, 0));
    const Tensor none = new_empty(input, {0});
    return {out, none, none, reserve, 0};
  }
  const int64_t channels = input.sizes()[1];
  for (const OptionalTensor* t : {&running_mean, &running_var, &weight, &bias}) {
    SB_CHECK(!is_given(*t) || (*t)->numel() == channels, op, ": expected parameters of ", channels,
             " elements, got ", (*t)->describe());
  }
  auto [out, mean, invstd] =
      native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {out, mean, invstd, reserve, 0};
}
ThreeTensors impl_index_backward(int64_t index, const Tensor& input, const Tensor& grad_output,
                                 const OptionalTensor& weight, const OptionalTensor& running_mean,
                                 const OptionalTensor& running_var, const OptionalTensor& save_mean,
                                 const OptionalTensor& save_var_transform, bool train, double eps,
                                 absl::Span<const bool> output_mask, const Tensor&) {
  SB_CHECK(index == 0, "_batch_norm_impl_index_backward: impl_index: expected 0, got ", index);
  return native_batch_norm_backward(grad_output, input, weight, running_mean, running_var,
                                    save_mean, save_var_transform, train, eps, output_mask);
}
Tensor composite(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                 const OptionalTensor& running_mean, const OptionalTensor& running_var,
                 bool training, double momentum, double eps, bool cudnn_enabled) {
  return std::get<0>(_batch_norm_impl_index(input, weight, bias, running_mean, running_var,
                                            training, momentum, eps, cudnn_enabled));
}

Tensor instance(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                const OptionalTensor& running_mean, const OptionalTensor& running_var,
                bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  constexpr const char* op = "instance_norm";
  check_defined(op, input);
  wrap_dim(op, 1, input.dim());
  SB_CHECK(use_input_stats || (is_given(running_mean) && is_given(running_var)), op,
           ": expected running_mean and running_var to be defined when use_input_stats is false");
  const int64_t batch = input.sizes()[0], channels = input.sizes()[1];
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  sizes[0] = 1;
  sizes[1] = checked_mul(batch, channels);
  const auto repeated = [&](const OptionalTensor& t) -> OptionalTensor {
    if (!is_given(t)) return std::nullopt;
    return repeat(*t, {batch});
  };
  const OptionalTensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor out = batch_norm(view(contiguous(input), sizes), repeated(weight), repeated(bias),
                                mean, var, use_input_stats, momentum, eps, cudnn_enabled);
  const auto write_back = [&](const OptionalTensor& running, const OptionalTensor& now) {
    if (is_given(running)) copy_(*running, sb::mean(view(*now, {batch, channels}), {0}));
  };
  write_back(running_mean, mean);
  write_back(running_var, var);
  return view(out, input.sizes());
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto define = [&](const auto& op, auto kernel) {
    m.define(op);
    m.impl(op, DispatchKey::CompositeImplicitAutograd, kernel);
  };
  define(batch_norm, composite);
  define(_batch_norm_impl_index, impl_index);
  define(_batch_norm_impl_index_backward, impl_index_backward);
  define(instance_norm, instance);
}

}  // namespace sb
