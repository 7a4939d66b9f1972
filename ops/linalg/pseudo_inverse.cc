#include "switchboard/ops/linalg/pseudo_inverse.h"

#include <limits>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/eigenvalues.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor adjoint(const Tensor& a) { return conj(transpose(a, -2, -1)); }

double epsilon(DType dtype) {
  const bool single = to_real(dtype) == DType::Float32;
  return single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

Tensor number(const Tensor& a, const Scalar& value) {
  return full(SymIntArrayRef(), value, DType::Float64, std::nullopt, a.device());
}

// What says which values count as 0.
struct Tolerances {
  Tensor atol, rtol;

  Tolerances(const char* op, const Tensor& a, const std::optional<Tensor>& absolute,
             const std::optional<Tensor>& relative) {
    for (const auto& [name, given] : {std::pair("atol", absolute), std::pair("rtol", relative)}) {
      SB_CHECK(!given || !is_complex(given->dtype()), op, ": ", name,
               ": expected a tensor that is not complex, got ", given->describe());
    }
    atol = absolute ? *absolute : number(a, 0);
    rtol = relative ? *relative : default_rtol(a);
    if (absolute && !relative) rtol = where(gt_Scalar(atol, 0), number(a, 0), rtol);
  }
  Tolerances(const Tensor& a, std::optional<double> absolute, std::optional<double> relative) {
    atol = number(a, absolute.value_or(0));
    const bool by_atol = absolute.value_or(0) > 0;
    rtol = relative ? number(a, *relative) : by_atol ? number(a, 0) : default_rtol(a);
  }

  // Which of the values in the last dimension do not.
  Tensor passed_by(const Tensor& magnitudes) const {
    const Tensor largest = amax(magnitudes, {-1}, /*keepdim=*/true);
    return gt(magnitudes, maximum(unsqueeze(atol, -1), mul(unsqueeze(rtol, -1), largest)));
  }

 private:
  static Tensor default_rtol(const Tensor& a) {
    const SymInt larger = sym_max(a.sym_size(-2), a.sym_size(-1));
    return number(a, SymFloat(epsilon(a.dtype())) * sym_float(larger));
  }
};

Tensor pinv_by_tensors(const Tensor& self, const std::optional<Tensor>& atol,
                       const std::optional<Tensor>& rtol, bool hermitian) {
  constexpr const char* op = "linalg_pinv";
  check_matrices(op, self);
  if (has_no_elements(self)) {
    const SymDimVector sizes = sym_batch_and(self, {self.sym_size(-1), self.sym_size(-2)});
    return zeros(SymIntArrayRef(sizes), self.dtype(), std::nullopt, self.device());
  }
  const Tolerances tolerances(op, self, atol, rtol);
  const auto inverted = [&](const Tensor& values, const Tensor& magnitudes) {
    const Tensor inverse = reciprocal(values);
    return unsqueeze(where(tolerances.passed_by(magnitudes), inverse, zeros_like(inverse)), -2);
  };
  if (hermitian) {
    const auto [values, vectors] = linalg_eigh(self, "L");
    return matmul(mul(vectors, inverted(values, abs(values))), adjoint(vectors));
  }
  const auto [u, s, vh] = linalg_svd(self, /*full_matrices=*/false, std::nullopt);
  return matmul(mul(adjoint(vh), inverted(s, s)), adjoint(u));
}
Tensor pinv_by_floats(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                      bool hermitian) {
  check_matrices("linalg_pinv", self);
  const Tolerances tolerances(self, atol, rtol);
  return linalg_pinv_atol_rtol_tensor(self, tolerances.atol, tolerances.rtol, hermitian);
}

void check_rank_input(const Tensor& self) {
  constexpr const char* op = "linalg_matrix_rank";
  check_defined(op, self);
  SB_CHECK(self.dim() >= 2, op, ": input: expected at least 2 dimensions, got ", self.describe());
}
Tensor rank(const Tensor& self, const Tolerances& tolerances, bool hermitian) {
  if (has_no_elements(self)) {
    return zeros(sym_batch_sizes(self), DType::Int64, std::nullopt, self.device());
  }
  const Tensor values = hermitian ? abs(linalg_eigvalsh(self, "L")) : linalg_svdvals(self);
  return sum_dim(tolerances.passed_by(values), {-1});
}
Tensor rank_by_tensors(const Tensor& self, const std::optional<Tensor>& atol,
                       const std::optional<Tensor>& rtol, bool hermitian) {
  check_rank_input(self);
  return rank(self, Tolerances("linalg_matrix_rank", self, atol, rtol), hermitian);
}
Tensor rank_by_floats(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                      bool hermitian) {
  check_rank_input(self);
  return rank(self, Tolerances(self, atol, rtol), hermitian);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  // In PyTorch's order, as a packet chooses the first that fits where no tolerance is given.
  auto by_floats = define(m, linalg_pinv_atol_rtol_float).composed(pinv_by_floats);
  define(m, linalg_pinv_atol_rtol_tensor)
      .composite_explicit(pinv_by_tensors)
      .out("atol_rtol_tensor_out", kCastOut);
  by_floats.out("atol_rtol_float_out", kCastOut);
  define(m, linalg_pinv)
      .composed([](const Tensor& self, double rcond, bool hermitian) {
        return pinv_by_floats(self, 0., rcond, hermitian);
      })
      .out("out", kCastOut);
  define(m, linalg_pinv_rcond_tensor)
      .composed([](const Tensor& self, const Tensor& rcond, bool hermitian) {
        check_matrices("linalg_pinv", self);
        return linalg_pinv_atol_rtol_tensor(self, number(self, 0), rcond, hermitian);
      })
      .out("out_rcond_tensor", kCastOut);
  define(m, pinverse).composed([](const Tensor& self, double rcond) {
    return pinv_by_floats(self, 0., rcond, /*hermitian=*/false);
  });

  define(m, linalg_matrix_rank_atol_rtol_tensor)
      .composed(rank_by_tensors)
      .out("atol_rtol_tensor_out", kCastOut);
  define(m, linalg_matrix_rank_atol_rtol_float)
      .composed(rank_by_floats)
      .out("atol_rtol_float_out", kCastOut);
  define(m, linalg_matrix_rank)
      .composed([](const Tensor& self, double tol, bool hermitian) {
        return rank_by_floats(self, tol, 0., hermitian);
      })
      .out("out", kCastOut);
  define(m, linalg_matrix_rank_tol_tensor)
      .composed([](const Tensor& self, const Tensor& tol, bool hermitian) {
        check_rank_input(self);
        return rank_by_tensors(self, tol, number(self, 0), hermitian);
      })
      .out("out_tol_tensor", kCastOut);
}

}  // namespace sb
