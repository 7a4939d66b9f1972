#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "Eigen/LU"
#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/cpu/gemm.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lapack/lapack.h"
#include "switchboard/ops/linalg/products.h"
#include "switchboard/ops/linalg/solve_by_lu.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The exponential of square matrices of n x n, by Padé's approximation for what has a small norm,
// and squares of that. After Higham, "The scaling and squaring method for the matrix exponential
// revisited" (2005).
template <class T>
class Exponential {
  using Real = typename Eigen::NumTraits<T>::Real;
  using Matrix = ColumnMajor<T>;
  static constexpr bool kSingle = std::is_same_v<Real, float>;
  // The largest norms at which the approximations of degree 7 and 13 are good to the last digit.
  static constexpr double kLimit7 = kSingle ? 3.925724783138660 : 0.9504178996162932;
  static constexpr double kLimit13 = 5.371920351148152;

 public:
  // exp(a), in place.
  static void replace(Eigen::Map<Matrix> a) {
    const double norm = static_cast<double>(a.cwiseAbs().colwise().sum().maxCoeff());
    if (!std::isfinite(norm)) {
      a.setConstant(T(std::numeric_limits<Real>::quiet_NaN()));
      return;
    }
    const double limit = kSingle ? kLimit7 : kLimit13;
    const int squarings = norm > limit ? std::ilogb(norm / limit) + 1 : 0;
    Matrix x = a * T(std::ldexp(Real(1), -squarings));
    x = kSingle || norm <= kLimit7 ? of_degree_7(x) : of_degree_13(x);
    for (int i = 0; i < squarings; ++i) x = product(x, x);
    a = x;
  }

 private:
  static Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c(a.rows(), b.cols());
    const auto ref = [](const Matrix& m) {
      return MatrixRef{const_cast<T*>(m.data()), m.rows(), m.cols(), 1, m.rows()};
    };
    gemm(dtype_of<T>, 1, ref(a), ref(b), 0, ref(c));
    return c;
  }
  // (V - U)^-1 (V + U), U odd and V even.
  static Matrix quotient(const Matrix& u, const Matrix& v) {
    Matrix lu = v - u, x = v + u;
    if (!lapack::is_available()) return Eigen::PartialPivLU<Matrix>(lu).solve(x);
    std::vector<int32_t> pivots(static_cast<size_t>(lu.rows()));
    lapack::getrf(lu.rows(), lu.cols(), lu.data(), pivots.data());
    const auto map = [](Matrix& m) { return Eigen::Map<Matrix>(m.data(), m.rows(), m.cols()); };
    solve_by_lu<T>(map(lu), pivots.data(), /*transposed=*/false, map(x));
    return x;
  }
  static Matrix of_degree_7(const Matrix& a) {
    const Matrix one = Matrix::Identity(a.rows(), a.cols());
    const Matrix a2 = product(a, a), a4 = product(a2, a2), a6 = product(a4, a2);
    const Matrix u = product(a, a6 + T(1512) * a4 + T(277200) * a2 + T(8648640) * one);
    const Matrix v = T(56) * a6 + T(25200) * a4 + T(1995840) * a2 + T(17297280) * one;
    return quotient(u, v);
  }
  static Matrix of_degree_13(const Matrix& a) {
    const Matrix one = Matrix::Identity(a.rows(), a.cols());
    const Matrix a2 = product(a, a), a4 = product(a2, a2), a6 = product(a4, a2);
    const Matrix upper_u = a6 + T(16380) * a4 + T(40840800) * a2;
    const Matrix upper_v = T(182) * a6 + T(960960) * a4 + T(1323241920) * a2;
    const Matrix u =
        product(a, product(a6, upper_u) + T(33522128640) * a6 + T(10559470521600) * a4 +
                       T(1187353796428800) * a2 + T(32382376266240000) * one);
    const Matrix v = product(a6, upper_v) + T(670442572800) * a6 + T(129060195264000) * a4 +
                     T(7771770303897600) * a2 + T(64764752532480000) * one;
    return quotient(u, v);
  }
};

template <bool with_data>
Tensor exp_kernel(const Tensor& self) {
  check_square("linalg_matrix_exp", self);
  if (is_one(self.sym_size(-1))) return exp(self);
  const Tensor result = clone(self, MemoryFormat::Contiguous);
  if constexpr (with_data) {
    if (self.numel() == 0) return result;
    const Tensor copy = empty_matrices(self, self.size(-2), self.size(-1));
    copy_elements(copy, self);
    visit_matrix_type(self.dtype(), [&]<class T>() {
      for_each_matrix(copy, [&](int64_t i) { Exponential<T>::replace(matrix_at<T>(copy, i)); });
    });
    copy_elements(result, copy);
  }
  return result;
}

Tensor power_kernel(const Tensor& self, int64_t n) {
  check_defined("linalg_matrix_power", self);
  SB_CHECK(self.dim() >= 2, "linalg_matrix_power: expected square matrices, got ", self.describe());
  SB_CHECK(self.sym_size(-1) == self.sym_size(-2),
           "linalg_matrix_power: expected square matrices, got ", self.describe());
  if (n == 0) {
    const Tensor one = zeros(self.sym_sizes(), self.dtype(), std::nullopt, self.device());
    fill_(diagonal(one, 0, -2, -1), 1);
    return one;
  }
  Tensor base = n < 0 ? linalg_inv(self) : self;
  if (n == 1) return clone(base);
  Tensor result;
  for (uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (rest & 1) result = result.defined() ? matmul(result, base) : base;
    rest >>= 1;
    if (rest == 0) return result;
    base = matmul(base, base);
  }
}

// As PyTorch, which copies to out what no last product gives: the first two powers and, from the
// fourth, those that squaring alone makes. The copy converts; a product or an inverse takes an out
// of its dtype alone.
template <auto& power>
Tensor power_out(const Tensor& self, int64_t n, const Tensor& out) {
  const uint64_t exponent = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  const bool copied = n == 0 || n == 1 || (exponent >= 4 && std::has_single_bit(exponent));
  copy_result_to_out("linalg_matrix_power", power(self, n), out, copied ? kCastOut : kCopiedOut);
  return out;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_matrix_exp).cpu(exp_kernel<true>).meta(exp_kernel<false>).out("out");
  define(m, matrix_exp).composed([](const Tensor& self) { return linalg_matrix_exp(self); });

  define(m, linalg_matrix_power)
      .composed(power_kernel)
      .out(linalg_matrix_power_out, power_out<linalg_matrix_power>);
  define(m, matrix_power).composed(power_kernel).out(matrix_power_out, power_out<matrix_power>);
}

}  // namespace sb
