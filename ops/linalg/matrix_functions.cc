#include <bit>

#include "Eigen/Core"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/products.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"
#include "unsupported/Eigen/MatrixFunctions"

namespace sb {
namespace {

template <bool with_data>
Tensor exp_kernel(const Tensor& self) {
  check_square("linalg_matrix_exp", self);
  if (is_one(self.sym_size(-1))) return exp(self);
  const Tensor result = clone(self);
  if constexpr (with_data) {
    const Tensor copy = wide_copy(self);
    visit_wide_type(self.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(self); ++i) {
        auto m = matrix_at<T>(copy, i);
        if (m.size() != 0) m = ColumnMajor<T>(m).exp().eval();
      }
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
