#include <cmath>

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lapack/lapack.h"
#include "switchboard/ops/linalg/solve_by_lu.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Makes `lu` its factors in place. Returns what `info` is to be.
template <class T>
int32_t factor_by_eigen(Eigen::Map<ColumnMajor<T>> lu, bool pivot, int32_t* pivots) {
  const Eigen::Index n = std::min(lu.rows(), lu.cols());
  int32_t info = 0;
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index largest = k;
    if (pivot) {
      const auto column = lu.col(k).tail(lu.rows() - k);
      // What LAPACK takes for the size of a complex number.
      if constexpr (Eigen::NumTraits<T>::IsComplex) {
        (column.real().cwiseAbs() + column.imag().cwiseAbs()).maxCoeff(&largest);
      } else {
        column.cwiseAbs().maxCoeff(&largest);
      }
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

// LAPACK always exchanges rows.
template <class T>
int32_t factor(Eigen::Map<ColumnMajor<T>> lu, bool pivot, int32_t* pivots) {
  if (!pivot || !lapack::is_available()) return factor_by_eigen<T>(lu, pivot, pivots);
  return lapack::getrf(lu.rows(), lu.cols(), lu.data(), pivots);
}

struct Factors {
  Tensor lu, pivots, info;
};
template <bool with_data>
Factors lu_factors(const char* op, const Tensor& a, bool pivot) {
  check_matrices(op, a, Integers::HaveNoKernel);
  Factors f;
  f.lu = empty_matrices(a, a.sym_size(-2), a.sym_size(-1));
  f.pivots = empty_batch(a, {sym_min(a.sym_size(-2), a.sym_size(-1))}, DType::Int32);
  f.info = empty_batch(a, {}, DType::Int32);
  if constexpr (with_data) {
    const int64_t n = f.pivots.size(-1);
    copy_elements(f.lu, a);
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for_each_matrix(f.lu, [&](int64_t i) {
        f.info.data<int32_t>()[i] =
            factor<T>(matrix_at<T>(f.lu, i), pivot, vector_at<int32_t>(f.pivots, i, n));
      });
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
  if (!a.is_contiguous() || is_complex(a.dtype())) return a;
  if (a.is_symbolic()) return transpose(a, -2, -1);
  return alias_transposed(a, static_cast<size_t>(a.dim() - 2), static_cast<size_t>(a.dim() - 1));
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
      constexpr bool is_real = std::is_same_v<T, Real>;
      for (int64_t i = 0; i < sign.numel(); ++i) {
        const auto diagonal = matrix_at<T>(f.lu, i).diagonal();
        T s = T(parity(f, i));
        Real sum = 0;
        for (Eigen::Index k = 0; k < diagonal.size(); ++k) {
          const Real modulus = std::abs(diagonal[k]);
          // The sign of a real NaN is 0.
          if constexpr (is_real)
            s *= T(diagonal[k] > 0) - T(diagonal[k] < 0);
          else
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

template <bool with_data>
Two inv_kernel(const Tensor& a, bool check) {
  check_square("linalg_inv", a);
  const Factors f = lu_factors<with_data>("linalg_inv", a, true);
  const Tensor result = empty_matrices(a, a.sym_size(-2), a.sym_size(-1));
  if constexpr (with_data) {
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for_each_matrix(f.lu, [&](int64_t i) {
        auto x = matrix_at<T>(result, i);
        const int32_t* const pivots = vector_at<int32_t>(f.pivots, i, x.rows());
        x.setIdentity();
        solve_by_lu<T>(matrix_at<T>(f.lu, i), pivots, /*transposed=*/false, x);
      });
    });
  }
  check_errors("linalg.inv", f.info, check);
  return {result, f.info};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
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
      "out", {"LU", "pivots", "info"});
  define(m, linalg_lu_factor)
      .composed([](const Tensor& a, bool pivot) -> Two {
        const auto [lu, pivots, info] = linalg_lu_factor_ex(a, pivot, false);
        check_errors("linalg.lu_factor", info, true);
        return {lu, pivots};
      })
      .out("out", {"LU", "pivots"}, kStructuredOut);

  define_factorization(m, _linalg_det, det_kernel<true>, det_kernel<false>, "result",
                       {"result", "LU", "pivots"});
  define(m, linalg_det)
      .composed([](const Tensor& a) { return std::get<0>(_linalg_det(a)); })
      .out(linalg_det_out, kStructuredOut);
  define(m, det).composed([](const Tensor& self) { return linalg_det(self); });

  define_factorization(m, _linalg_slogdet, slogdet_kernel<true>, slogdet_kernel<false>, "sign",
                       {"sign", "logabsdet", "LU", "pivots"});
  const auto slogdet_of = [](const Tensor& a) -> Two {
    const auto [sign, log, lu, pivots] = _linalg_slogdet(a);
    return {sign, log};
  };
  define(m, linalg_slogdet).composed(slogdet_of).out("out", {"sign", "logabsdet"}, kStructuredOut);
  define(m, slogdet).composed(slogdet_of).out("out", {"sign", "logabsdet"}, kStructuredOut);

  define_factorization(m, linalg_inv_ex, inv_kernel<true>, inv_kernel<false>, "inverse",
                       {"inverse", "info"});
  const auto inverse_of = [](const Tensor& a) {
    const auto [result, info] = linalg_inv_ex(a, false);
    check_errors("linalg.inv", info, true);
    return result;
  };
  define(m, linalg_inv).composed(inverse_of).out(linalg_inv_out, kStructuredOut);
  define(m, inverse).composed(inverse_of).out(inverse_out, kStructuredOut);
}

}  // namespace sb
