#include "switchboard/ops/statistics/norm.h"

#include <cmath>
#include <complex>
#include <limits>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_inexact(DType t) { return is_floating_point(t) || is_complex(t); }

// As PyTorch, whose kernels take the order as a float, for doubles too.
double as_order(double p) { return static_cast<float>(p); }

Reduction kind_of(double p) {
  if (p == 0) return Reduction::Norm0;
  if (p == 1) return Reduction::Norm1;
  if (p == 2) return Reduction::Norm2;
  if (p == kInfinity) return Reduction::NormMax;
  return p == -kInfinity ? Reduction::NormMin : Reduction::NormP;
}

template <SizeType Int>
BasicTensorMeta<Int> vector_rule(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                                 bool keepdim, std::optional<DType> dtype) {
  constexpr const char* op = "linalg_vector_norm";
  SB_CHECK(is_inexact(self.dtype()), op, ": expected a floating-point or complex tensor, got ",
           self.describe());
  if (dtype) {
    SB_CHECK(is_inexact(*dtype) && is_complex(*dtype) == is_complex(self.dtype()) &&
                 promote_types(self.dtype(), *dtype) == *dtype,
             op, ": dtype: expected one that ", to_string(self.dtype()),
             " converts to without narrowing, got ", to_string(*dtype));
  }
  SB_CHECK(!ord.is_complex(), op, ": ord: expected a real number, got ", ord.to_string());
  const double p = ord.to<double>();
  const ReductionPlan plan(op, kind_of(p), self, dims_or_all(dim), keepdim);
  if (p < 0 || p == kInfinity) {
    for (size_t d = 0; d < sizes_of<Int>(self).size(); ++d) {
      SB_CHECK(!plan.reduced[d] || sizes_of<Int>(self)[d] != Int(0), op, ": ", self.describe(),
               " has no element to take the norm of order ", p, " of");
    }
  }
  return plan.meta_of<Int>(to_real(dtype.value_or(self.dtype())));
}
void vector_kernel(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype, const Tensor& out) {
  const double p = as_order(ord.to<double>());
  const ReductionPlan plan("linalg_vector_norm", kind_of(p), self, dims_or_all(dim), keepdim);
  reduce_into(plan.kind, self, plan.reduced, dtype.value_or(self.dtype()), out, {.p = p});
}

// `norm` is the same norm, which may leave the order out and takes no dims for all of them.
Scalar order_of(const std::optional<Scalar>& p) { return p.value_or(2); }
template <SizeType Int>
BasicTensorMeta<Int> norm_dtype_rule(const Tensor& self, const std::optional<Scalar>& p,
                                     IntArrayRef dim, bool keepdim, DType dtype) {
  return vector_rule<Int>(self, order_of(p), dim, keepdim, dtype);
}
void norm_dtype_kernel(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                       bool keepdim, DType dtype, const Tensor& out) {
  vector_kernel(self, order_of(p), dim, keepdim, dtype, out);
}
template <SizeType Int>
BasicTensorMeta<Int> norm_rule(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                               bool keepdim) {
  return vector_rule<Int>(self, order_of(p), dim, keepdim, std::nullopt);
}
void norm_kernel(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                 const Tensor& out) {
  vector_kernel(self, order_of(p), dim, keepdim, std::nullopt, out);
}
Tensor norm_of_all(const Tensor& self, const Scalar& p) {
  return norm_dim(self, p, IntArrayRef(), false);
}
Tensor norm_of_all_as(const Tensor& self, const std::optional<Scalar>& p, DType dtype) {
  return norm_dim_dtype(self, p, IntArrayRef(), false, dtype);
}

template <SizeType Int>
BasicTensorMeta<Int> renorm_rule(const Tensor& self, const Scalar& p, int64_t dim,
                                 const Scalar& maxnorm) {
  constexpr const char* op = "renorm";
  SB_CHECK(!p.is_complex() && !maxnorm.is_complex(), op,
           ": p and maxnorm: expected real numbers, got ", p.to_string(), " and ",
           maxnorm.to_string());
  SB_CHECK(p.to<double>() > 0, op, ": p: expected a positive number, got ", p.to_string());
  SB_CHECK(maxnorm.to<double>() >= 0, op, ": maxnorm: expected no negative number, got ",
           maxnorm.to_string());
  SB_CHECK(self.dim() > 1, op, ": expected at least 2 dimensions, got ", self.describe());
  wrap_dim(op, dim, self.dim());
  SB_CHECK(is_inexact(self.dtype()), op, ": expected a floating-point or complex tensor, got ",
           self.describe());
  return {size_vector<Int>(self), self.dtype()};
}
void renorm_kernel(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm,
                   const Tensor& out) {
  if (out.numel() == 0) return;
  const size_t d = static_cast<size_t>(wrap_dim("renorm", dim, self.dim()));
  DimVector sizes(self.sizes().size(), 1);
  sizes[d] = self.sizes()[d];
  const DType dtype = compute_dtype(self.dtype());
  const Tensor norms = empty_on(self.device(), sizes, DType::Float64);
  const double order = as_order(p.to<double>());
  reduce_into(kind_of(order), self, ~DimSet().set(d), dtype, norms, {.p = order});
  double* const factors = norms.data<double>();
  const double limit = maxnorm.to<double>();
  for (int64_t i = 0; i < sizes[d]; ++i) {
    factors[i] = factors[i] > limit ? limit / (factors[i] + 1e-7) : 1;
  }
  copy_elements(out, mul(self, cast_copy(norms, to_real(dtype))));
}

// The sum of |x|^ord, as it is: also for orders that vector norms treat apart.
Tensor powsum_of(const Tensor& self, const Scalar& ord, const OptionalIntArrayRef& dim,
                 bool keepdim, std::optional<DType> dtype) {
  constexpr const char* op = "linalg__powsum";
  check_defined(op, self);
  const DType computed = dtype.value_or(self.dtype());
  SB_CHECK_NOT_IMPLEMENTED(is_inexact(computed), op, ": not implemented for ", to_string(computed));
  const Tensor size = abs(to_dtype(self, computed));
  return sum_dim(pow_Tensor_Scalar(size, ord.to<double>()), dims_or_all(dim), keepdim);
}

Tensor dist_of(const Tensor& self, const Tensor& other, const Scalar& p) {
  return norm_Scalar(sub(self, other), p);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_vector_norm, Tag::reduction)
      .structured<by_size_rule<vector_rule<int64_t>, vector_rule<SymInt>>, vector_kernel>()
      .out(linalg_vector_norm_out);
  define(m, norm_dim, Tag::reduction)
      .structured<by_size_rule<norm_rule<int64_t>, norm_rule<SymInt>>, norm_kernel>()
      .out(norm_dim_out);
  define(m, norm_dim_dtype, Tag::reduction)
      .structured<by_size_rule<norm_dtype_rule<int64_t>, norm_dtype_rule<SymInt>>,
                  norm_dtype_kernel>()
      .out(norm_dim_dtype_out);
  define(m, renorm)
      .structured<by_size_rule<renorm_rule<int64_t>, renorm_rule<SymInt>>, renorm_kernel>()
      .inplace(renorm_)
      .out(renorm_out);
  define(m, norm_Scalar, Tag::reduction).composite_explicit(norm_of_all).out("Scalar_out");
  define(m, norm_ScalarOpt_dtype, Tag::reduction)
      .composite_explicit(norm_of_all_as)
      .out("ScalarOpt_dtype_out");
  define(m,
         "aten::linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
         "ScalarType? dtype=None) -> Tensor",
         TagSet{Tag::reduction, Tag::derived_through})
      .composite_explicit(powsum_of);
  define(m, dist).composite_explicit(dist_of).out("out");
}

}  // namespace sb
