// Derivatives of normalisation of each channel.

#include "switchboard/ops/normalization/batch_norm.h"

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/missing_gradients.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/normalization/derivatives/norm_gradients.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {
namespace {

template <size_t N>
std::array<Tensor, N> no_derivatives(const char* op, const char* arguments) {
  internal::no_derivative(op, arguments);
}

// What training goes back by is the batch's statistics, and evaluation the running ones: a node
// keeps those alone, so that training may go on to write to the others.
constexpr auto kTrained =
    SB_GRAD((input, weight, bias), (grad, input, weight, result1, result2, eps, needs),
            native_batch_norm_backward(grad, input, weight, std::nullopt, std::nullopt, result1,
                                       result2, true, eps, needs));
constexpr auto kEvaluated =
    SB_GRAD((input, weight, bias), (grad, input, weight, running_mean, running_var, eps, needs),
            native_batch_norm_backward(grad, input, weight, running_mean, running_var, std::nullopt,
                                       std::nullopt, false, eps, needs));
// Of running statistics in evaluation, as in PyTorch.
constexpr auto kStatistics =
    SB_GRAD((running_mean, running_var), (grad),
            no_derivatives<2>("native_batch_norm", "running_mean and running_var"));

// The kernel at Autograd of an operator with an argument `training`.
template <class Tag>
struct RecordBatchNorm {
  static constexpr SchemaLiteral schema = internal::OpTraits<Tag>::schema;
  static constexpr size_t kTraining = internal::find_argument(schema, "training");
  template <auto&... formulas>
  using Recording =
      internal::RecordingKernel<Tag,
                                internal::DerivedNode<Tag, std::decay_t<decltype(formulas)>...>>;

  template <class R, class... A>
  struct Of {
    R operator()(DispatchKeySet keys, A... args) const {
      const auto all = std::tie(args...);
      const bool training = std::get<kTraining>(all);
      using Trained = typename Recording<kTrained>::template Of<R, A...>;
      using Evaluated = typename Recording<kEvaluated, kStatistics>::template Of<R, A...>;
      R results = training ? Trained()(keys, args...) : Evaluated()(keys, args...);
      if (training) {
        [&]<size_t... I>(std::index_sequence<I...>) { (count_write<I>(std::get<I>(all)), ...); }
        (std::index_sequence_for<A...>());
      }
      return results;
    }
  };

 private:
  template <size_t I, class T>
  static void count_write(const T& argument) {
    if constexpr (schema.arguments[I].is_written)
      if (argument.defined()) internal::count_write(Op<Tag>().entry(), argument);
  }
};

template <class Tag>
void derive_by_training(Library& m, const Op<Tag>& op) {
  using Kernel =
      typename internal::OpTraits<Tag>::template Apply<RecordBatchNorm<Tag>::template Of>;
  m.impl(op, DispatchKey::Autograd, Kernel());
}

// Of grad_out, input and weight, from the gradients of native_batch_norm_backward's results.
// save_mean and save_invstd are what the input makes them.
std::array<Tensor, 3> batch_norm_backward_gradients(
    absl::Span<const Tensor> grads, const Tensor& grad_out, const Tensor& input,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var, const std::optional<Tensor>& save_mean,
    const std::optional<Tensor>& save_invstd, bool train, double eps,
    const std::array<bool, 3>& needs) {
  SymDimVector sizes(static_cast<size_t>(input.dim()), SymInt(1));
  sizes[1] = input.sym_size(1);
  const auto of_channels = [&](const Tensor& t) { return t.defined() ? reshape(t, sizes) : t; };
  internal::NormBackward backward;
  backward.grad_out = grad_out;
  backward.rstd = of_channels(train ? *save_invstd : rsqrt(add_Scalar(*running_var, eps)));
  const Tensor mean_of_channels = of_channels(train ? *save_mean : *running_mean);
  backward.normalised = mul(sub(input, mean_of_channels), backward.rstd);
  if (is_given(weight)) backward.weight = of_channels(*weight);
  for (int64_t d = 0; d < input.dim(); ++d)
    if (d != 1) backward.dims.push_back(d);
  backward.constant_statistics = !train;

  const Tensor wide[] = {grads[0], of_channels(grads[1]), of_channels(grads[2])};
  Tensor of_weight = needs[2] ? backward.of_weight(wide) : Tensor();
  if (of_weight.defined()) of_weight = sum(of_weight, IntArrayRef(backward.dims));
  return {needs[0] ? backward.of_grad_out(wide) : Tensor(),
          needs[1] ? backward.of_input(wide) : Tensor(), of_weight};
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_by_training(m, native_batch_norm);
  derive_by_training(m, _native_batch_norm_legit);
  derive_by_training(m, _native_batch_norm_legit_functional);
  derive(m, _native_batch_norm_legit_no_stats, kTrained);
  derive(m, _native_batch_norm_legit_no_training, kEvaluated, kStatistics);
  derive(m, native_batch_norm_backward,
         SB_GRAD(
             (grad_out, input, weight),
             (grads, grad_out, input, weight, running_mean, running_var, save_mean, save_invstd,
              train, eps, needs),
             batch_norm_backward_gradients(grads, grad_out, input, weight, running_mean,
                                           running_var, save_mean, save_invstd, train, eps, needs)),
         SB_GRAD((running_mean, running_var, save_mean, save_invstd), (grads),
                 no_derivatives<4>("native_batch_norm_backward", "a statistic")));
}

}  // namespace sb
