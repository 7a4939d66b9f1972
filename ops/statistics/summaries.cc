#include "switchboard/ops/statistics/summaries.h"

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

struct NanSum {
  static ReductionPlan plan(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim,
                            std::optional<DType> to) {
    check_defined("nansum", self);
    SB_CHECK(!is_complex(self.dtype()), "nansum: expected a real tensor, got ", self.describe());
    const bool exact = is_integral(self.dtype(), true);
    SB_CHECK(exact || !to || is_floating_point(*to), "nansum: expected a floating-point dtype for ",
             self.describe(), ", got ", to_string(to.value_or(self.dtype())));
    return {"nansum", exact ? Reduction::Sum : Reduction::NanSum, self, dims_or_all(dim), keepdim};
  }
  static Tensor functional(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                           std::optional<DType> dtype) {
    const ReductionPlan sum = plan(self, dim, keepdim, dtype);
    const DType own = is_integral(self.dtype(), true) ? DType::Int64 : self.dtype();
    return sum.run(dtype.value_or(own));
  }
  static Tensor out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                    std::optional<DType> dtype, const Tensor& out) {
    check_defined("nansum", out);
    const DType result = dtype.value_or(out.dtype());
    return plan(self, dim, keepdim, result).run_out(result, out);
  }
};

struct NanMean {
  // How many are not NaN.
  static Tensor count(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
    check_defined("nanmean", self);
    SB_CHECK(is_floating_point(self.dtype()), "nanmean: expected a floating-point tensor, got ",
             self.describe());
    const Tensor x = detach(self);
    return sum_dim(eq(x, x), dim, keepdim, std::nullopt);
  }
  static Tensor functional(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                           std::optional<DType> dtype) {
    const Tensor n = count(self, dim, keepdim);
    return div(nansum(self, dim, keepdim, dtype), n);
  }
  static Tensor out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                    std::optional<DType> dtype, const Tensor& out) {
    const Tensor n = count(self, dim, keepdim);
    nansum_out(self, dim, keepdim, dtype, out);
    return div_(out, n);
  }
};

template <SizeType Int>
std::array<BasicTensorMeta<Int>, 2> aminmax_rule(const Tensor& self, std::optional<int64_t> dim,
                                                 bool keepdim) {
  constexpr const char* op = "aminmax";
  if (dim) {
    check_has_extreme(op, self, {*dim});
  } else {
    SB_CHECK(numel_of<Int>(self) != 0, op, ": ", self.describe(), " has no element");
  }
  const IntArrayRef dims = dim ? IntArrayRef(&*dim, 1) : IntArrayRef();
  const BasicTensorMeta<Int> meta =
      ReductionPlan(op, Reduction::Min, self, dims, keepdim).meta_of<Int>(self.dtype());
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()), op, ": not implemented for ",
                           to_string(self.dtype()));
  return {meta, meta};
}
void aminmax_kernel(const Tensor& self, std::optional<int64_t> dim, bool keepdim, const Tensor& min,
                    const Tensor& max) {
  const IntArrayRef dims = dim ? IntArrayRef(&*dim, 1) : IntArrayRef();
  const ReductionPlan plan("aminmax", Reduction::Min, self, dims, keepdim);
  reduce_into(Reduction::Min, self, plan.reduced, self.dtype(), min);
  reduce_into(Reduction::Max, self, plan.reduced, self.dtype(), max);
}

// The logarithm of the sum of exponentials, in parts: of complex numbers, of which none is the
// largest, or into a complex dtype. What is subtracted is the largest real part.
Tensor complex_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim, DType dtype) {
  const auto sum_of = [&](const Tensor& x) {
    return log(sum_dim(to_dtype(exp(x), dtype), dim, keepdim));
  };
  if (same_size(self.sym_numel(), SymInt(0))) return sum_of(self);
  const Tensor largest = amax(is_complex(self.dtype()) ? real(self) : self, dim, true);
  const Tensor pivot = masked_fill(largest, isinf(largest), 0);
  const Tensor sums = sum_of(sub(self, pivot));
  return add(sums, keepdim ? pivot : reshape(pivot, sums.sym_sizes()));
}

struct LogSumExp {
  static ReductionPlan plan(const Tensor& self, IntArrayRef dim, bool keepdim) {
    constexpr const char* op = "logsumexp";
    check_defined(op, self);
    // As PyTorch, which does not take away the dimensions that nobody named.
    const bool names_dims = !dim.empty() || keepdim || self.dim() == 0;
    SB_CHECK(names_dims || same_size(self.sym_numel(), SymInt(0)), op,
             ": dim: expected a dimension, got none");
    return {op, Reduction::LogSumExp, self, dim, keepdim};
  }
  static DType own_dtype(const Tensor& self) {
    return is_integral(self.dtype(), true) ? default_dtype() : self.dtype();
  }
  static Tensor functional(const Tensor& self, IntArrayRef dim, bool keepdim) {
    const ReductionPlan p = plan(self, dim, keepdim);
    if (is_complex(self.dtype())) return complex_logsumexp(self, dim, keepdim, self.dtype());
    return p.run(own_dtype(self));
  }
  static Tensor out(const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
    check_defined("logsumexp", out);
    SB_CHECK(is_floating_point(out.dtype()) || is_complex(out.dtype()),
             "logsumexp: expected a floating-point or complex out, got ", out.describe());
    const ReductionPlan p = plan(self, dim, keepdim);
    if (is_complex(self.dtype()) || is_complex(out.dtype())) {
      const Tensor x = is_integral(self.dtype(), true) ? to_dtype(self, default_dtype()) : self;
      copy_result_to_out("logsumexp", complex_logsumexp(x, dim, keepdim, out.dtype()), out);
      return out;
    }
    return p.run_out(out.dtype(), out, own_dtype(self));
  }
  static Tensor special(const Tensor& self, IntArrayRef dim, bool keepdim) {
    return logsumexp(self, dim, keepdim);
  }
  static Tensor special_out(const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
    return logsumexp_out(self, dim, keepdim, out);
  }
};

template <SizeType Int>
BasicTensorMeta<Int> count_rule(const Tensor& self, IntArrayRef dim) {
  return ReductionPlan("count_nonzero", Reduction::CountNonzero, self, dim, false)
      .meta_of<Int>(DType::Int64);
}
void count_kernel(const Tensor& self, IntArrayRef dim, const Tensor& out) {
  const ReductionPlan plan("count_nonzero", Reduction::CountNonzero, self, dim, false);
  reduce_into(plan.kind, self, plan.reduced, DType::Bool, out);
}
Tensor count(const Tensor& self, std::optional<int64_t> dim) {
  return count_nonzero_dims(self, dim ? IntArrayRef(&*dim, 1) : IntArrayRef());
}

std::tuple<Tensor, Tensor> aminmax_all(const Tensor& self) {
  return aminmax(self, std::nullopt, false);
}
std::tuple<Tensor, Tensor> aminmax_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return aminmax(self, dim, keepdim);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, nansum, Tag::reduction).cpu_and_meta(NanSum::functional).out(nansum_out, NanSum::out);
  define(m, aminmax, Tag::reduction)
      .structured<by_size_rule<aminmax_rule<int64_t>, aminmax_rule<SymInt>>, aminmax_kernel>()
      .out(aminmax_out);
  define(m, logsumexp, Tag::reduction)
      .cpu_and_meta(LogSumExp::functional)
      .out(logsumexp_out, LogSumExp::out);
  define(m, count_nonzero_dims, Tag::reduction)
      .structured<by_size_rule<count_rule<int64_t>, count_rule<SymInt>>, count_kernel>()
      .out("dim_IntList_out");

  define(m, nanmean).composed(NanMean::functional).out(nanmean_out, NanMean::out);
  define(m, special_logsumexp)
      .composed(LogSumExp::special)
      .out(special_logsumexp_out, LogSumExp::special_out);
  define(m, count_nonzero, Tag::reduction).composite_explicit(count).out("out");
  define(m, _aminmax, Tag::derived_through).composite_explicit(aminmax_all).out("out");
  define(m, _aminmax_dim, Tag::derived_through).composite_explicit(aminmax_dim).out("dim_out");
}

}  // namespace sb
