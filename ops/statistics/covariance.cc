#include "switchboard/ops/statistics/covariance.h"

#include <algorithm>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;

void check_weights(const char* name, const Tensor& w, bool right_dtype,
                   const SymInt& observations) {
  SB_CHECK(w.dim() <= 1, "cov: ", name, ": expected at most one dimension, got ", w.describe());
  SB_CHECK(right_dtype, "cov: ", name, ": expected ",
           name[0] == 'f' ? "integers" : "floating-point elements", ", got ", w.describe());
  SB_CHECK(w.sym_numel() == observations, "cov: ", name, ": expected one element for each of ",
           observations.to_string(), " observations, got ", w.describe());
  SB_CHECK(!has_data(w) || w.numel() == 0 || item(min_all(w)).to<double>() >= 0, "cov: ", name,
           ": expected no negative element");
}

Tensor covariance(const Tensor& self, int64_t correction, const OptionalTensor& fweights,
                  const OptionalTensor& aweights) {
  constexpr const char* op = "cov";
  check_defined(op, self);
  SB_CHECK(self.dim() <= 2, op, ": expected at most two dimensions, got ", self.describe());
  SB_CHECK_NOT_IMPLEMENTED(self.dtype() != DType::Bool, op, ": not implemented for bool");
  Tensor in = self.dim() < 2 ? reshape(self, {1, -1}) : self;
  const SymInt observations = in.sym_size(1);
  const bool has_frequencies = is_given(fweights);
  const bool has_weights = is_given(aweights);
  Tensor w;
  if (has_frequencies) {
    check_weights("fweights", *fweights, is_integral(fweights->dtype()), observations);
    w = *fweights;
  }
  if (has_weights) {
    check_weights("aweights", *aweights, is_floating_point(aweights->dtype()), observations);
    w = w.defined() ? mul(w, *aweights) : *aweights;
  }
  const auto weighted = [&](const Tensor& x) { return w.defined() ? mul(x, w) : x; };

  // The divisor is a number, or where there are weights a tensor: no element of it is read.
  const SymFloat count = sym_float(observations);
  Tensor total, divisor;
  if (w.defined()) {
    total = sum(w);
    SB_CHECK(!has_data(total) || item(total).to<double>() != 0, op,
             ": expected weights that do not sum to 0");
    divisor = has_weights && correction != 0
                  ? sub(total, div(mul_Scalar(sum(mul(w, *aweights)), correction), total))
                  : sub_Scalar(total, correction);
    divisor = clamp_min(divisor, 0);
  }
  const Tensor sums = sum_dim(weighted(in), IntArrayRef({1}), false, std::nullopt);
  const Tensor mean = total.defined() ? div(sums, total) : div_Scalar(sums, count);
  in = sub(in, unsqueeze(mean, 1));
  const Tensor products = mm(in, conj(t(weighted(in))));
  const SymFloat left = sym_max(count - static_cast<double>(correction), 0.0);
  return squeeze(divisor.defined() ? div(products, divisor) : div_Scalar(products, left));
}

Tensor correlation(const Tensor& self) {
  check_defined("corrcoef", self);
  SB_CHECK(self.dim() <= 2, "corrcoef: expected at most two dimensions, got ", self.describe());
  const Tensor c = cov(self);
  if (c.dim() == 0) return div(c, c);
  const Tensor variances = diagonal(c);
  const Tensor deviations = sqrt(is_complex(c.dtype()) ? real(variances) : variances);
  const Tensor ratios = div(div(c, unsqueeze(deviations, 1)), unsqueeze(deviations, 0));
  // Rounding must not take them out of range.
  const Tensor parts = is_complex(c.dtype()) ? view_as_real(ratios) : ratios;
  clamp_(parts, -1, 1);
  return ratios;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, cov).composed(covariance);
  define(m, corrcoef).composed(correlation);
}

}  // namespace sb
