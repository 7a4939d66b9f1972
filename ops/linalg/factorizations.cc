#include "switchboard/ops/linalg/factorizations.h"

#include <cmath>
#include <tuple>

#include "Eigen/Cholesky"
#include "Eigen/LU"
#include "Eigen/QR"
#include "switchboard/core/dtype_types.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/fill.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/linalg/exact_out.h"
#include "switchboard/ops/linalg/matrix_batch.h"
#include "switchboard/ops/linalg/products.h"
#include "switchboard/ops/matmul.h"
#include "switchboard/ops/out_form.h"
#include "switchboard/ops/views.h"
#include "unsupported/Eigen/MatrixFunctions"

namespace sb {
namespace {

using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor empty_batch(const Tensor& like, std::initializer_list<int64_t> last, DType dtype) {
  return empty_on(like.device(), batch_and(like, last), dtype);
}
Tensor factor_copy(const Tensor& a) { return copy_(empty_matrices(a, a.size(-2), a.size(-1)), a); }

// Makes `lu` its factors in place. Returns what `info` is to be.
template <class T>
int32_t factor(Eigen::Map<ColumnMajor<T>> lu, bool pivot, int32_t* pivots) {
  const Eigen::Index n = std::min(lu.rows(), lu.cols());
  int32_t info = 0;
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index largest = k;
    if (pivot) {
      lu.col(k).tail(lu.rows() - k).cwiseAbs().maxCoeff(&largest);
      largest += k;
      if (largest != k) lu.row(k).swap(lu.row(largest));
    }
    pivots[k] = static_cast<int32_t>(largest + 1);
    const Eigen::Index below = lu.rows() - k - 1;
    if (lu(k, k) == T(0)) {
      if (info == 0) info = static_cast<int32_t>(k + 1);
      continue;
    }
    if (below == 0) continue;
    lu.col(k).tail(below) /= lu(k, k);
    const Eigen::Index right = lu.cols() - k - 1;
    if (right == 0) continue;
    lu.bottomRightCorner(below, right).noalias() -= lu.col(k).tail(below) * lu.row(k).tail(right);
  }
  return info;
}

struct Factors {
  Tensor lu, pivots, info;
};
template <bool with_data>
Factors lu_factors(const char* op, const Tensor& a, bool pivot) {
  check_matrices(op, a);
  const int64_t n = std::min(a.size(-2), a.size(-1));
  Factors f;
  f.lu = empty_matrices(a, a.size(-2), a.size(-1));
  f.pivots = empty_batch(a, {n}, DType::Int32);
  f.info = empty_batch(a, {}, DType::Int32);
  if constexpr (with_data) {
    copy_elements(f.lu, a);
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(a); ++i) {
        f.info.data<int32_t>()[i] =
            factor<T>(matrix_at<T>(f.lu, i), pivot, f.pivots.data<int32_t>() + i * n);
      }
    });
  }
  return f;
}

// 1 or -1: whether the rows of matrix i were permuted evenly.
int parity(const Factors& f, int64_t i) {
  const int64_t n = f.pivots.size(-1);
  const int32_t* const pivots = f.pivots.data<int32_t>() + i * n;
  int sign = 1;
  for (int64_t k = 0; k < n; ++k) sign = pivots[k] == k + 1 ? sign : -sign;
  return sign;
}

// Has the same determinant. As in PyTorch, whose factors of row-major matrices are these.
Tensor transposed_if_contiguous(const Tensor& a) {
  return a.is_contiguous() && !is_complex(a.dtype())
             ? alias_transposed(a, static_cast<size_t>(a.dim() - 2),
                                static_cast<size_t>(a.dim() - 1))
             : a;
}

template <bool with_data>
Three det_kernel(const Tensor& a) {
  check_square("linalg_det", a);
  const Factors f = lu_factors<with_data>("linalg_det", transposed_if_contiguous(a), true);
  const Tensor result = empty_batch(a, {}, a.dtype());
  if constexpr (with_data) {
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < result.numel(); ++i) {
        result.data<T>()[i] = matrix_at<T>(f.lu, i).diagonal().prod() * T(parity(f, i));
      }
    });
  }
  return {result, f.lu, f.pivots};
}

template <bool with_data>
std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet_kernel(const Tensor& a) {
  check_square("linalg_slogdet", a);
  const Factors f = lu_factors<with_data>("linalg_slogdet", transposed_if_contiguous(a), true);
  const Tensor sign = empty_batch(a, {}, a.dtype());
  const Tensor log = empty_batch(a, {}, to_real(a.dtype()));
  if constexpr (with_data) {
    visit_matrix_type(a.dtype(), [&]<class T>() {
      using Real = typename Eigen::NumTraits<T>::Real;
      for (int64_t i = 0; i < sign.numel(); ++i) {
        const auto diagonal = matrix_at<T>(f.lu, i).diagonal();
        T s = T(parity(f, i));
        Real sum = 0;
        for (Eigen::Index k = 0; k < diagonal.size(); ++k) {
          const Real modulus = std::abs(diagonal[k]);
          s *= modulus == Real(0) ? T(0) : diagonal[k] / modulus;
          sum += std::log(modulus);
        }
        sign.data<T>()[i] = s;
        log.data<Real>()[i] = sum;
      }
    });
  }
  return {sign, log, f.lu, f.pivots};
}

void check_errors(const char* name, const Tensor& info, bool wanted) {
  if (wanted) _linalg_check_errors(info, name, info.dim() == 0);
}

template <bool with_data>
Two inv_kernel(const Tensor& a, bool check) {
  check_square("linalg_inv", a);
  const Factors f = lu_factors<with_data>("linalg_inv", a, true);
  const Tensor result = empty_matrices(a, a.size(-2), a.size(-1));
  if constexpr (with_data) {
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(a); ++i) {
        auto x = matrix_at<T>(result, i);
        const auto lu = matrix_at<T>(f.lu, i);
        x.setIdentity();
        for (Eigen::Index k = 0; k < x.rows(); ++k) {
          const Eigen::Index other = f.pivots.data<int32_t>()[i * x.rows() + k] - 1;
          if (other != k) x.row(k).swap(x.row(other));
        }
        lu.template triangularView<Eigen::UnitLower>().solveInPlace(x);
        lu.template triangularView<Eigen::Upper>().solveInPlace(x);
      }
    });
  }
  check_errors("linalg.inv", f.info, check);
  return {result, f.info};
}

template <bool with_data>
Two cholesky_kernel(const Tensor& a, bool upper, bool check) {
  check_square("linalg_cholesky", a);
  const Tensor result = empty_matrices(a, a.size(-2), a.size(-1));
  const Tensor info = empty_batch(a, {}, DType::Int32);
  if constexpr (with_data) {
    copy_elements(result, a);
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < info.numel(); ++i) {
        auto m = matrix_at<T>(result, i);
        if (upper) m = m.adjoint().eval();
        // -1 or the column where it stopped.
        const Eigen::Index stop = Eigen::internal::llt_inplace<T, Eigen::Lower>::blocked(m);
        m.template triangularView<Eigen::StrictlyUpper>().setZero();
        if (upper) m = m.adjoint().eval();
        info.data<int32_t>()[i] = static_cast<int32_t>(stop + 1);
      }
    });
  }
  check_errors("linalg.cholesky", info, check);
  return {result, info};
}

template <bool with_data>
Two qr_kernel(const Tensor& a, std::string_view mode) {
  check_matrices("linalg_qr", a);
  SB_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
           "linalg_qr: mode: expected 'reduced', 'complete' or 'r', got '", mode, "'");
  const int64_t rows = a.size(-2);
  const int64_t cols = a.size(-1);
  const int64_t n = mode == "complete" ? rows : std::min(rows, cols);
  const bool with_q = mode != "r";
  const Tensor r = empty_matrices(a, n, cols);
  const Tensor q = with_q ? empty_matrices(a, rows, n) : empty_on(a.device(), {0}, a.dtype());
  if constexpr (with_data) {
    const Tensor copy = factor_copy(a);
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(a); ++i) {
        if (rows == 0 || cols == 0) {
          if (with_q) matrix_at<T>(q, i).setIdentity();
          continue;
        }
        const Eigen::HouseholderQR<ColumnMajor<T>> factors(matrix_at<T>(copy, i));
        matrix_at<T>(r, i) = factors.matrixQR().topRows(n).template triangularView<Eigen::Upper>();
        if (with_q) {
          matrix_at<T>(q, i) = factors.householderQ() * ColumnMajor<T>::Identity(rows, n);
        }
      }
    });
  }
  return {q, r};
}

template <bool with_data>
Tensor exp_kernel(const Tensor& self) {
  check_square("linalg_matrix_exp", self);
  const Tensor result = clone(self);
  if constexpr (with_data) {
    const Tensor copy = factor_copy(self);
    visit_matrix_type(self.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(self); ++i) {
        auto m = matrix_at<T>(copy, i);
        if (m.size() != 0) m = ColumnMajor<T>(m).exp().eval();
      }
    });
    copy_elements(result, copy);
  }
  return result;
}

void check_errors_kernel(const Tensor& info, std::string_view name, bool is_matrix) {
  check_defined("_linalg_check_errors", info);
  SB_CHECK(info.dtype() == DType::Int32, "_linalg_check_errors: info: expected int32, got ",
           info.describe());
  const Tensor flat = contiguous(info);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int32_t code = flat.data<int32_t>()[i];
    SB_CHECK(code == 0, name, ": ", is_matrix ? "" : "(batch element ",
             is_matrix ? std::string() : std::to_string(i) + ") ",
             "the factorization stopped at element ", code,
             ": the matrix is singular or not positive definite");
  }
}

Tensor power_kernel(const Tensor& self, int64_t n) {
  check_defined("linalg_matrix_power", self);
  SB_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
           "linalg_matrix_power: expected square matrices, got ", self.describe());
  if (n == 0) {
    const Tensor one = zeros(self.sizes(), self.dtype(), std::nullopt, self.device());
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

// The operator at CPU and Meta, with an out= form that copies if it has a name.
template <class Tag, class Cpu, class Meta>
void define_factorization(Library& m, const Op<Tag>& op, Cpu cpu, Meta meta,
                          std::string_view out_overload, std::vector<std::string> outs) {
  const OperatorHandle handle = m.define(op);
  m.impl(op, DispatchKey::CPU, cpu);
  m.impl(op, DispatchKey::Meta, meta);
  if (!out_overload.empty()) define_out_form(m, handle, out_overload, std::move(outs));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto composite = DispatchKey::CompositeImplicitAutograd;
  m.define(_linalg_check_errors);
  m.impl(_linalg_check_errors, DispatchKey::CPU, check_errors_kernel);
  m.impl(_linalg_check_errors, DispatchKey::Meta, [](const Tensor&, std::string_view, bool) {});

  const auto lu_factor_ex = []<bool with_data>(const Tensor& a, bool pivot, bool check) -> Three {
    const Factors f = lu_factors<with_data>("linalg_lu_factor_ex", a, pivot);
    check_errors("linalg.lu_factor_ex", f.info, check);
    return {f.lu, f.pivots, f.info};
  };
  define_factorization(
      m, linalg_lu_factor_ex,
      [=](const Tensor& a, bool pivot, bool check) {
        return lu_factor_ex.operator()<true>(a, pivot, check);
      },
      [=](const Tensor& a, bool pivot, bool check) {
        return lu_factor_ex.operator()<false>(a, pivot, check);
      },
      "", {});
  m.define(linalg_lu_factor);
  m.impl(linalg_lu_factor, composite, [](const Tensor& a, bool pivot) -> Two {
    const auto [lu, pivots, info] = linalg_lu_factor_ex(a, pivot, false);
    check_errors("linalg.lu_factor", info, true);
    return {lu, pivots};
  });

  define_factorization(m, _linalg_det, det_kernel<true>, det_kernel<false>, "result",
                       {"result", "LU", "pivots"});
  define_composite<linalg_det, write_cast_out>(
      m, [](const Tensor& a) { return std::get<0>(_linalg_det(a)); });
  m.define(det);
  m.impl(det, composite, [](const Tensor& self) { return linalg_det(self); });

  define_factorization(m, _linalg_slogdet, slogdet_kernel<true>, slogdet_kernel<false>, "sign",
                       {"sign", "logabsdet", "LU", "pivots"});
  const auto slogdet_of = [](const Tensor& a) -> Two {
    const auto [sign, log, lu, pivots] = _linalg_slogdet(a);
    return {sign, log};
  };
  const OperatorHandle linalg_slogdet_op = m.define(linalg_slogdet);
  m.impl(linalg_slogdet, composite, slogdet_of);
  define_out_form(m, linalg_slogdet_op, "out", {"sign", "logabsdet"});
  const OperatorHandle slogdet_op = m.define(slogdet);
  m.impl(slogdet, composite, slogdet_of);
  define_out_form(m, slogdet_op, "out", {"sign", "logabsdet"});

  define_factorization(m, linalg_inv_ex, inv_kernel<true>, inv_kernel<false>, "inverse",
                       {"inverse", "info"});
  const auto inverse_of = [](const Tensor& a) {
    const auto [result, info] = linalg_inv_ex(a, false);
    check_errors("linalg.inv", info, true);
    return result;
  };
  define_composite<linalg_inv, write_cast_out>(m, inverse_of);
  define_composite<inverse, write_cast_out>(m, inverse_of);

  define_factorization(m, linalg_cholesky_ex, cholesky_kernel<true>, cholesky_kernel<false>, "L",
                       {"L", "info"});
  const auto cholesky_of = [](const Tensor& a, bool upper) {
    const auto [result, info] = linalg_cholesky_ex(a, upper, false);
    check_errors("linalg.cholesky", info, true);
    return result;
  };
  define_composite<linalg_cholesky, write_cast_out>(m, cholesky_of);
  define_composite<cholesky, write_cast_contiguous_out>(m, cholesky_of);

  define_factorization(m, linalg_qr, qr_kernel<true>, qr_kernel<false>, "", {});
  const OperatorHandle qr_op = m.define(qr);
  m.impl(qr, composite, [](const Tensor& self, bool some) {
    return linalg_qr(self, some ? "reduced" : "complete");
  });
  define_out_form(m, qr_op, "Q", {"Q", "R"});

  define_factorization(m, linalg_matrix_exp, exp_kernel<true>, exp_kernel<false>, "out", {"out"});
  m.define(matrix_exp);
  m.impl(matrix_exp, composite, [](const Tensor& self) { return linalg_matrix_exp(self); });

  define_composite<linalg_matrix_power, write_cast_out>(m, power_kernel);
  define_composite<matrix_power, write_cast_out>(m, power_kernel);
}

}  // namespace sb
