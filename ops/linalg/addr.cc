// addr: elementwise, but its categories are checked as those of no other operator.

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/ternary.h"
#include "switchboard/ops/linalg/products.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_factor(const char* name, const Scalar& factor, DType dtype) {
  const bool fits = is_complex(dtype)          ? true
                    : is_floating_point(dtype) ? !factor.is_complex()
                                               : factor.is_int() || factor.is_bool();
  SB_CHECK(fits, "addr: ", name, ": ", factor.to_string(), " is of a category above ",
           to_string(dtype));
  SB_CHECK(!factor.is_bool() || dtype == DType::Bool, "addr: ", name,
           ": a bool only goes with bool tensors");
}

Tensor addr_kernel(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                   const Scalar& alpha) {
  for (const Tensor* t : {&self, &vec1, &vec2}) check_defined("addr", *t);
  SB_CHECK(vec1.dim() == 1 && vec2.dim() == 1, "addr: expected vectors, got ", vec1.describe(),
           " and ", vec2.describe());
  SB_CHECK(self.dim() <= 2, "addr: self: expected at most 2 dimensions, got ", self.describe());
  const Tensor base = expand(self, {vec1.sym_size(0), vec2.sym_size(0)});
  const Tensor column = unsqueeze(vec1, 1);
  const Tensor* const all[] = {&base, &column, &vec2};
  const DType dtype = result_type(all);
  check_factor("beta", beta, dtype);
  check_factor("alpha", alpha, dtype);
  const bool with_self = beta.is_symbolic() || beta.to<std::complex<double>>() != 0.0;
  if (dtype == DType::Bool) {
    Tensor product = logical_and(column, vec2);
    if (!alpha.to<bool>()) product = logical_and(product, logical_not(product));
    return with_self ? logical_or(base, product) : product;
  }
  // Nothing to compute, but the strides are self's.
  if (same_size(base.sym_numel(), SymInt(0))) return to_dtype(mul_Scalar(base, beta), dtype);
  const auto is_one = [](const Scalar& s) {
    return !s.is_symbolic() && s.to<std::complex<double>>() == 1.0;
  };
  const Tensor scaled = is_one(alpha) ? column : mul_Scalar(column, alpha);
  if (!with_self) return to_dtype(mul(scaled, vec2), dtype);
  const Tensor addend = is_one(beta) ? base : mul_Scalar(base, beta);
  // One pass instead of two, where that rounds alike.
  const bool one_pass = is_floating_point(dtype) && itemsize(dtype) >= 4 &&
                        addend.dtype() == dtype && scaled.dtype() == dtype && vec2.dtype() == dtype;
  return one_pass ? addcmul(addend, scaled, vec2) : add(addend, mul(scaled, vec2));
}

// Where `out` must keep its shape, it is self.
Tensor addr_into(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                 const Scalar& alpha, const Tensor& out, bool inplace) {
  check_defined("addr: out", out);
  const Tensor result = addr(self, vec1, vec2, beta, alpha);
  SB_CHECK(can_cast(result.dtype(), out.dtype()), "addr: result type ", to_string(result.dtype()),
           " can't be cast to the desired output type ", to_string(out.dtype()));
  if (inplace) {
    SB_CHECK(equal_sizes<SymInt>(out.sym_sizes(), result.sym_sizes()),
             "addr: self: ", self.describe(), " does not have the result's shape ",
             shape_text(result.sym_sizes()));
  }
  copy_result_to_out("addr", result, out);
  return out;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, addr)
      .composite_explicit(addr_kernel)
      .inplace(
          addr_,
          [](const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
             const Scalar& alpha) { return addr_into(self, vec1, vec2, beta, alpha, self, true); })
      .out(addr_out, [](const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                        const Scalar& beta, const Scalar& alpha, const Tensor& out) {
        return addr_into(self, vec1, vec2, beta, alpha, out, false);
      });
}

}  // namespace sb
