#include "switchboard/ops/loss/dropout.h"

#include <cmath>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/bernoulli.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

struct Variant {
  bool features = false;  // one number for each channel
  bool alpha = false;
  bool inplace = false;
};

bool is_empty(const Tensor& t) { return same_size(t.sym_numel(), SymInt(0)); }
// Dropout of no element gives as much by the long way, and so need not ask.
bool is_known_empty(const Tensor& t) { return known(t.sym_numel() == 0); }

// What the numbers are drawn for.
Tensor noise_like(const Variant& variant, const Tensor& input) {
  if (!variant.features) return empty_like(input);
  SB_CHECK(input.dim() >= 2, "dropout", ": expected at least 2 dimensions, got ", input.describe());
  return by_size(input.is_symbolic(), [&]<class Int>() {
    SizeVector<Int> sizes = size_vector<Int>(input);
    std::fill(sizes.begin() + 2, sizes.end(), Int(1));
    return new_empty(input, SizesRef<Int>(sizes));
  });
}

template <Variant variant>
Tensor dropout_kernel(const Tensor& input, double p, bool train) {
  check_defined("dropout", input);
  SB_CHECK(p >= 0 && p <= 1, "dropout", ": p: expected 0 to 1, got ", p);
  if (p == 0 || !train || is_known_empty(input)) return input;
  const auto times = [&](const Tensor& factor) {
    return variant.inplace ? mul_(input, factor) : mul(input, factor);
  };
  if (p == 1) return times(new_zeros(input, {}));
  const Tensor noise = bernoulli_float_(noise_like(variant, input), 1 - p);
  if (!variant.alpha) return times(div_Scalar_(noise, 1 - p));
  constexpr double kAlpha = 1.7580993408473766;  // SELU's lower limit is minus this
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor shift = add_Scalar_(mul_Scalar_(add_Scalar(noise, -1), kAlpha * a), kAlpha * a * p);
  return add_(times(mul_Scalar_(noise, a)), shift);
}

std::tuple<Tensor, Tensor> native_dropout_kernel(const Tensor& input, double p,
                                                 std::optional<bool> train) {
  check_defined("native_dropout", input);
  // As PyTorch, which draws nothing here, and gives the input itself and a mask of its dtype.
  if (is_empty(input)) return {input, empty_like(input)};
  if (train && !*train) return {clone(input), ones_like(input, DType::Bool)};
  const Tensor mask = bernoulli_float_(empty_like(input, DType::Bool), 1 - p);
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  return {mul_Scalar_(mul(input, mask), scale), mask};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, dropout, {Tag::maybe_aliasing_or_mutating, Tag::nondeterministic_seeded})
      .composed(&dropout_kernel<Variant{}>)
      .inplace(dropout_, &dropout_kernel<Variant{.inplace = true}>);
  define(m, feature_dropout, {Tag::maybe_aliasing_or_mutating, Tag::nondeterministic_seeded})
      .composed(&dropout_kernel<Variant{.features = true}>)
      .inplace(feature_dropout_, &dropout_kernel<Variant{.features = true, .inplace = true}>);
  define(m, alpha_dropout, {Tag::maybe_aliasing_or_mutating, Tag::nondeterministic_seeded})
      .composed(&dropout_kernel<Variant{.alpha = true}>)
      .inplace(alpha_dropout_, &dropout_kernel<Variant{.alpha = true, .inplace = true}>);
  define(m, feature_alpha_dropout, {Tag::maybe_aliasing_or_mutating, Tag::nondeterministic_seeded})
      .composed(&dropout_kernel<Variant{.features = true, .alpha = true}>)
      .inplace(feature_alpha_dropout_,
               &dropout_kernel<Variant{.features = true, .alpha = true, .inplace = true}>);

  define(m, native_dropout, Tag::nondeterministic_seeded)
      .composite_explicit(native_dropout_kernel)
      .out("out");
  define(m, native_dropout_backward)
      .composite_explicit([](const Tensor& grad, const Tensor& mask, double scale) {
        return mul_Scalar(mul(grad, mask), scale);
      })
      .out("out");
}

}  // namespace sb
