// batch_norm and instance_norm, which native_batch_norm computes.

#include <utility>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/normalization/parameters.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/size_text.h"
#include "switchboard/ops/views/repeat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

template <SizeType Int>
void check_elements(const char* op, const Tensor& input,
                    std::initializer_list<const OptionalTensor*> parameters) {
  const Int& channels = sizes_of<Int>(input)[1];
  for (const OptionalTensor* t : parameters) {
    if (!is_given(*t)) continue;
    SB_CHECK(numel_of<Int>(**t) == channels, op, ": expected parameters of ", size_text(channels),
             " elements, got ", (*t)->describe());
  }
}

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
  if (same_size(input.sym_numel(), SymInt(0))) {
    Tensor out = clone(input);
    if (is_given(weight)) out = mul(out, sb::select(*weight, 0, 0));
    if (is_given(bias)) out = add(out, sb::select(*bias, 0, 0));
    const Tensor none = new_empty(input, {0});
    return {out, none, none, reserve, 0};
  }
  by_size(any_symbolic(input, running_mean, running_var, weight, bias), [&]<class Int>() {
    check_elements<Int>(op, input, {&running_mean, &running_var, &weight, &bias});
  });
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
  // Only the statistics of an empty batch are others: without them, symbols need not be asked.
  if (input.is_symbolic() && hint(input.sym_numel()) != 0 && (training || is_given(running_mean))) {
    return std::get<0>(
        native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
  }
  return std::get<0>(_batch_norm_impl_index(input, weight, bias, running_mean, running_var,
                                            training, momentum, eps, cudnn_enabled));
}

// The batch's items are so many times more channels of one item.
template <SizeType Int>
Tensor normalized_instances(const Tensor& input, const OptionalTensor& weight,
                            const OptionalTensor& bias, const OptionalTensor& running_mean,
                            const OptionalTensor& running_var, bool use_input_stats,
                            double momentum, double eps, bool cudnn_enabled) {
  SizeVector<Int> sizes = size_vector<Int>(input);
  const Int batch = std::exchange(sizes[0], Int(1)), channels = sizes[1];
  sizes[1] = product_of(batch, channels);
  const auto repeated = [&](const OptionalTensor& t) -> OptionalTensor {
    if (!is_given(t)) return std::nullopt;
    return repeat(*t, {batch});
  };
  const OptionalTensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor out =
      batch_norm(view(contiguous(input), SizesRef<Int>(sizes)), repeated(weight), repeated(bias),
                 mean, var, use_input_stats, momentum, eps, cudnn_enabled);
  const auto write_back = [&](const OptionalTensor& running, const OptionalTensor& now) {
    if (is_given(running)) copy_(*running, sb::mean(view(*now, {batch, channels}), {0}));
  };
  write_back(running_mean, mean);
  write_back(running_var, var);
  return view(out, sizes_of<Int>(input));
}

Tensor instance(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                const OptionalTensor& running_mean, const OptionalTensor& running_var,
                bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  constexpr const char* op = "instance_norm";
  check_defined(op, input);
  wrap_dim(op, 1, input.dim());
  SB_CHECK(use_input_stats || (is_given(running_mean) && is_given(running_var)), op,
           ": expected running_mean and running_var to be defined when use_input_stats is false");
  return by_size(input.is_symbolic(), [&]<class Int>() {
    return normalized_instances<Int>(input, weight, bias, running_mean, running_var,
                                     use_input_stats, momentum, eps, cudnn_enabled);
  });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, batch_norm, Tag::maybe_aliasing_or_mutating).composed(composite);
  define(m, _batch_norm_impl_index, Tag::maybe_aliasing_or_mutating).composed(impl_index);
  define(m, _batch_norm_impl_index_backward).composed(impl_index_backward);
  define(m, instance_norm).composed(instance);
}

}  // namespace sb
