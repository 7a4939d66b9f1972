#include "switchboard/ops/loss/rrelu.h"

#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using OptionalGenerator = std::optional<Generator>;

double mean_slope(const Scalar& lower, const Scalar& upper) {
  return (lower.to<double>() + upper.to<double>()) / 2;
}

void check_noise(const Tensor& self, const Tensor& noise) {
  constexpr const char* op = "rrelu_with_noise";
  check_defined(op, self);
  check_defined(op, noise);
  SB_CHECK(equal_sizes<SymInt>(self.sym_sizes(), noise.sym_sizes()), op,
           ": argument noise: expected the shape of ", self.describe(), ", got ", noise.describe());
}

// Draws a slope for each element that is not above 0, in the order of the elements.
template <bool with_data>
void draw_slopes(const Tensor& self, const Tensor& noise, const Scalar& lower, const Scalar& upper,
                 const OptionalGenerator& generator) {
  SB_CHECK(noise.dtype() == self.dtype(), "rrelu_with_noise: argument noise: expected ",
           to_string(self.dtype()), ", got ", noise.describe());
  const double low = lower.to<double>(), high = upper.to<double>();
  SB_CHECK(low <= high, "rrelu_with_noise: expected lower to be at most upper, got ", low, " and ",
           high);
  check_no_internal_overlap(noise);
  if constexpr (with_data) {
    const Tensor drawn = le_Scalar(self, 0);
    const auto count = item(sum_all(drawn)).to<int64_t>();
    const Tensor slopes = empty({SymInt(count)}, DType::Float64);
    uniform_(slopes, low, high, generator);
    fill_(noise, 1);
    masked_scatter_(noise, drawn, to_dtype(slopes, noise.dtype()));
  }
}

template <bool with_data>
Tensor forward(const Tensor& self, const Tensor& noise, const Scalar& lower, const Scalar& upper,
               bool training, const OptionalGenerator& generator) {
  check_noise(self, noise);
  if (!training) return leaky_relu(self, mean_slope(lower, upper));
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()),
                           "rrelu_with_noise: not implemented for ", to_string(self.dtype()));
  draw_slopes<with_data>(self, noise, lower, upper, generator);
  return mul(self, noise);
}
template <bool with_data>
Tensor forward_inplace(const Tensor& self, const Tensor& noise, const Scalar& lower,
                       const Scalar& upper, bool training, const OptionalGenerator& generator) {
  check_no_internal_overlap(self);
  return copy_(self, forward<with_data>(self, noise, lower, upper, training, generator));
}

Tensor backward(const Tensor& grad_output, const Tensor& self, const Tensor& noise,
                const Scalar& lower, const Scalar& upper, bool training, bool self_is_result) {
  if (training && upper.to<double>() - lower.to<double>() > 1e-6) return mul(grad_output, noise);
  return leaky_relu_backward(grad_output, self, mean_slope(lower, upper), self_is_result);
}

void check_bounds(const Scalar& lower, const Scalar& upper) {
  SB_CHECK(lower.to<double>() <= upper.to<double>(),
           "rrelu: expected lower to be at most upper, got ", lower.to_string(), " and ",
           upper.to_string());
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const Tag random = Tag::nondeterministic_seeded;
  define(m, rrelu_with_noise, random).cpu(forward<true>).meta(forward<false>);
  define(m, rrelu_with_noise_, random).cpu(forward_inplace<true>).meta(forward_inplace<false>);
  define(m, rrelu_with_noise_out, random)
      .composite_explicit([](const Tensor& self, const Tensor& noise, const Scalar& lower,
                             const Scalar& upper, bool training, const OptionalGenerator& generator,
                             const Tensor& out) {
        check_defined("rrelu_with_noise.out", out);
        check_no_internal_overlap(out);  // before the noise is drawn
        copy_result_to_out("rrelu_with_noise.out",
                           rrelu_with_noise(self, noise, lower, upper, training, generator), out,
                           kStructuredOut);
        return out;
      });
  define(m, rrelu_with_noise_backward, Tag::derived_through)
      .composite_explicit(backward)
      .out("out");
  define(m, rrelu, random)
      .composed([](const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                   const OptionalGenerator& generator) {
        check_bounds(lower, upper);
        return rrelu_with_noise(self, empty_like(self), lower, upper, training, generator);
      });
  define(m, rrelu_, random)
      .composed([](const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                   const OptionalGenerator& generator) {
        check_bounds(lower, upper);
        return rrelu_with_noise_(self, empty_like(self), lower, upper, training, generator);
      });
}

}  // namespace sb
