#include "switchboard/ops/sorting/quantile.h"

#include <optional>
#include <string_view>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/elementwise/ternary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/sorting/sort.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_quantile(const char* op, const Tensor& self, const Tensor& q,
                    std::string_view interpolation) {
  check_defined(op, self);
  check_defined(op, q);
  SB_CHECK(self.sym_numel() > 0, op, ": expected elements, got ", self.describe());
  SB_CHECK(self.dtype() == DType::Float32 || self.dtype() == DType::Float64, op,
           ": expected float32 or float64, got ", self.describe());
  SB_CHECK(q.dim() <= 1, op, ": argument q: expected a number or a vector, got ", q.describe());
  SB_CHECK(q.dtype() == self.dtype() && q.device() == self.device(), op,
           ": argument q: expected the dtype and device of ", self.describe(), ", got ",
           q.describe());
  for (const std::string_view known : {"linear", "lower", "higher", "midpoint", "nearest"})
    if (interpolation == known) return;
  SB_THROW(RuntimeError, op, ": argument interpolation: expected 'linear', 'lower', 'higher', ",
           "'midpoint' or 'nearest', got '", interpolation, "'");
}
void check_is_part(const char* op, double q) {
  SB_CHECK(q >= 0 && q <= 1, op, ": argument q: expected numbers between 0 and 1, got ", q);
}

// Where in sorted rows the quantiles lie, (rows..., quantiles), in float64.
Tensor ranks_of(const Tensor& rows, const Tensor& given_parts, bool ignore_nan) {
  const Tensor parts = to_dtype(given_parts, DType::Float64);
  const SymInt last = rows.sym_size(-1) - 1;
  const Tensor is_nan = ne(rows, rows);
  if (ignore_nan) {
    const Tensor counts = sum(logical_not(is_nan), {-1}, true);
    return mul(parts, to_dtype(clamp_min(add_Scalar(counts, -1), 0), parts.dtype()));
  }
  // The last of a sorted row is the NaN that is in it.
  const double end = static_cast<double>(last.guard_int());
  const Tensor ranks = mul_Scalar(parts, end);
  const Tensor spoiled = any_dim(is_nan, -1, true);
  SymDimVector sizes(rows.sym_sizes().begin(), rows.sym_sizes().end());
  sizes.back() = parts.sym_numel();
  return masked_fill(expand(ranks, SymIntArrayRef(sizes)), spoiled, end);
}

Tensor quantiles(const char* op, const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                 bool keepdim, std::string_view interpolation, bool ignore_nan) {
  check_quantile(op, self, q, interpolation);
  const int64_t along = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  Tensor rows = dim ? self : flatten(self);
  if (rows.dim() == 0)
    rows = unsqueeze(rows, 0);
  else if (dim)
    rows = movedim_int(rows, along, -1);

  Tensor ranks = ranks_of(rows, q.dim() == 0 ? unsqueeze(q, 0) : q, ignore_nan);
  if (interpolation == "lower") ranks = floor(ranks);
  if (interpolation == "higher") ranks = ceil(ranks);
  if (interpolation == "nearest") ranks = round(ranks);
  const Tensor sorted = std::get<0>(sort(rows, -1));
  const Tensor below = floor(ranks);
  Tensor values = gather(sorted, -1, to_dtype(below, DType::Int64));
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor above = gather(sorted, -1, to_dtype(ceil(ranks), DType::Int64));
    const Tensor weight = interpolation == "midpoint" ? full_like(ranks, 0.5) : sub(ranks, below);
    values = lerp_Tensor(values, above, to_dtype(weight, values.dtype()));
  }
  // (rows..., quantiles): the reduced dimension comes back where it was, the quantiles go first.
  if (keepdim && dim && self.dim() > 0) {
    values = unsqueeze(values, along);
  } else if (keepdim && self.dim() > 0) {
    for (int64_t d = 0; d < self.dim(); ++d) values = unsqueeze(values, 0);
  }
  return q.dim() == 0 ? squeeze_dim(values, -1) : movedim_int(values, -1, 0);
}

template <bool ignore_nan>
Tensor quantile_any(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                    std::string_view interpolation) {
  const char* op = ignore_nan ? "nanquantile" : "quantile";
  check_defined(op, q);
  if (q.is_cpu() && q.dim() <= 1)
    for (int64_t i = 0; i < q.numel(); ++i)
      check_is_part(op, item(q.dim() == 0 ? q : sb::select(q, 0, i)).to<double>());
  return quantiles(op, self, q, dim, keepdim, interpolation, ignore_nan);
}
template <bool ignore_nan>
Tensor quantile_number(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
  const char* op = ignore_nan ? "nanquantile" : "quantile";
  check_is_part(op, q);
  check_defined(op, self);
  return quantiles(op, self,
                   scalar_tensor(q, self.dtype(), std::nullopt, self.device(), std::nullopt), dim,
                   keepdim, interpolation, ignore_nan);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, quantile).composed(quantile_any<false>).out(quantile_out);
  define(m, quantile_scalar).composed(quantile_number<false>).out(quantile_scalar_out);
  define(m, nanquantile).composed(quantile_any<true>).out(nanquantile_out);
  define(m, nanquantile_scalar).composed(quantile_number<true>).out(nanquantile_scalar_out);
}

}  // namespace sb
