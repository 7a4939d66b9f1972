// batch_norm as compilers have it: each result has a `reserve` for what a device keeps for
// backward, which is empty here.

#include "absl/types/span.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Four with_reserve(const Tensor& input, std::tuple<Tensor, Tensor, Tensor> results) {
  const auto& [out, mean, invstd] = results;
  return {out, mean, invstd, new_empty(input, {0}, DType::UInt8)};
}

Four with_update(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                 const Tensor& running_mean, const Tensor& running_var, double momentum,
                 double eps) {
  return with_reserve(input, _native_batch_norm_legit(input, weight, bias, running_mean,
                                                      running_var, true, momentum, eps));
}
Four without_update(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                    const OptionalTensor& running_mean, const OptionalTensor& running_var,
                    double momentum, double eps) {
  return with_reserve(input, native_batch_norm(input, weight, bias, running_mean, running_var,
                                               false, momentum, eps));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m,
         "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
         "running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, "
         "Tensor, Tensor)",
         Tag::derived_through)
      .composite_explicit(with_update);
  define(
      m,
      "aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
      "running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, "
      "Tensor)",
      Tag::derived_through)
      .composite_explicit(without_update)
      .out("out");
  define(m,
         "aten::batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? "
         "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, "
         "float eps, bool[3] output_mask, Tensor reserve) -> (Tensor, Tensor, Tensor)",
         Tag::derived_through)
      .composite_explicit([](const Tensor& grad_out, const Tensor& input, const Tensor& weight,
                             const OptionalTensor& running_mean, const OptionalTensor& running_var,
                             const OptionalTensor& save_mean, const OptionalTensor& save_var,
                             bool update, double eps, absl::Span<const bool> mask, const Tensor&) {
        return native_batch_norm_backward(grad_out, input, weight, running_mean, running_var,
                                          save_mean, save_var, update, eps, mask);
      });
}

}  // namespace
}  // namespace sb
