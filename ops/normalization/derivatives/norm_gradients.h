// The gradients of a normalisation's gradients, which batches, layers and groups have in common.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_DERIVATIVES_NORM_GRADIENTS_H_
#define SWITCHBOARD_OPS_NORMALIZATION_DERIVATIVES_NORM_GRADIENTS_H_

#include <array>

#include "absl/types/span.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {

// What went back through a normalisation
//
//   normalised = (input - mean) * rstd
//   output = normalised * weight + bias
//
// from grad_out:
//
//   grad_input = rstd * centred(grad_out * weight)
//   grad_weight = sum(grad_out * normalised)
//   grad_bias = sum(grad_out)
//
// where centred(v) = v - mean(v) - normalised * mean(v * normalised), means being over `dims`; or v
// itself, where mean and rstd are constants. All tensors broadcast to grad_out. An undefined weight
// is 1; of the gradients of the three results, `grads`, those of weight and bias broadcast to
// grad_out too, and undefined ones are 0.
class NormBackward {
 public:
  Tensor grad_out, normalised, rstd, weight;
  DimVector dims;
  bool constant_statistics = false;

  // The gradients of grad_out, and of weight before it is summed to its shape. Undefined where
  // nothing contributes.
  Tensor of_grad_out(absl::Span<const Tensor> grads) const {
    Tensor total;
    if (grads[0].defined()) total = weighted(mul(rstd, centred(grads[0])));
    if (grads[1].defined()) total = plus(total, mul(grads[1], normalised));
    if (grads[2].defined()) total = plus(total, expand(grads[2], grad_out.sym_sizes()));
    return total;
  }
  Tensor of_weight(absl::Span<const Tensor> grads) const {
    return grads[0].defined() ? mul(grad_out, mul(rstd, centred(grads[0]))) : Tensor();
  }

  // The gradients of `normalised` and, for each element, of rstd, as they stand in the formulas
  // above.
  struct OfParts {
    Tensor normalised, rstd;
  };
  OfParts of_parts(absl::Span<const Tensor> grads) const {
    OfParts parts;
    if (grads[1].defined()) parts.normalised = mul(grads[1], grad_out);
    if (!grads[0].defined()) return parts;
    const Tensor wide = weighted(grad_out);
    parts.rstd = mul(grads[0], centred(wide));
    if (constant_statistics) return parts;
    const Tensor products = add(mul(grads[0], mean_of(mul(wide, normalised))),
                                mul(wide, mean_of(mul(grads[0], normalised))));
    parts.normalised = plus(parts.normalised, neg(mul(rstd, products)));
    return parts;
  }
  // The gradient of the input, which mean and rstd follow unless they are constants.
  Tensor of_input(absl::Span<const Tensor> grads) const {
    const OfParts parts = of_parts(grads);
    if (!parts.normalised.defined()) return Tensor();
    const Tensor total = mul(rstd, centred(parts.normalised));
    if (constant_statistics || !parts.rstd.defined()) return total;
    return sub(total, mul(mul(mul(rstd, rstd), normalised), mean_of(parts.rstd)));
  }

 private:
  Tensor mean_of(const Tensor& t) const { return mean(t, IntArrayRef(dims), true); }
  Tensor weighted(const Tensor& t) const { return weight.defined() ? mul(t, weight) : t; }
  Tensor centred(const Tensor& t) const {
    if (constant_statistics) return t;
    return sub(sub(t, mean_of(t)), mul(normalised, mean_of(mul(t, normalised))));
  }
  static Tensor plus(const Tensor& total, const Tensor& more) {
    return total.defined() ? add(total, more) : more;
  }
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_NORMALIZATION_DERIVATIVES_NORM_GRADIENTS_H_
