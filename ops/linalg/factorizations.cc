#include "Eigen/Cholesky"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb {
namespace {

// As lapack::potrf.
template <class T>
int32_t factor_by_eigen(bool upper, int64_t n, T* a) {
  Eigen::Map<ColumnMajor<T>> m(a, n, n);
  if (upper) m = m.adjoint().eval();
  // -1 or the column where it stopped.
  const Eigen::Index stop = Eigen::internal::llt_inplace<T, Eigen::Lower>::blocked(m);
  if (upper) m = m.adjoint().eval();
  return static_cast<int32_t>(stop + 1);
}

template <bool with_data>
Two cholesky_kernel(const Tensor& a, bool upper, bool check) {
  check_square("linalg_cholesky", a);
  const Tensor result = empty_matrices(a, a.sym_size(-2), a.sym_size(-1));
  const Tensor info = empty_batch(a, {}, DType::Int32);
  if constexpr (with_data) {
    copy_elements(result, a);
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for_each_matrix(result, [&](int64_t i) {
        auto m = matrix_at<T>(result, i);
        info.data<int32_t>()[i] =
            (lapack::is_available() ? lapack::potrf<T> : factor_by_eigen<T>)(upper, m.rows(),
                                                                             m.data());
        if (upper) {
          m.template triangularView<Eigen::StrictlyLower>().setZero();
        } else {
          m.template triangularView<Eigen::StrictlyUpper>().setZero();
        }
      });
    });
  }
  check_errors("linalg.cholesky", info, check);
  return {result, info};
}

// What went wrong with a matrix, by the info of its factorization.
std::string failure(std::string_view name, int32_t info) {
  const bool of_svd = name == "linalg.svd";
  if (!of_svd && name != "linalg.eigh" && name != "linalg.eig") {
    return str_cat("the factorization stopped at element ", info,
                   ": the matrix is singular or not positive definite");
  }
  if (info < 0) {
    return "the algorithm failed to converge because the input matrix contained non-finite values";
  }
  return str_cat(
      "the algorithm failed to converge because the input matrix is ill-conditioned or has too "
      "many repeated ",
      of_svd ? "singular values" : "eigenvalues", " (error code: ", info, ")");
}

void check_errors_kernel(const Tensor& info, std::string_view name, bool is_matrix) {
  check_defined("_linalg_check_errors", info);
  SB_CHECK(info.dtype() == DType::Int32, "_linalg_check_errors: info: expected int32, got ",
           info.describe());
  const Tensor flat = contiguous(info);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int32_t code = flat.data<int32_t>()[i];
    SB_CHECK(code == 0, name, ": ", is_matrix ? "" : "(batch element ",
             is_matrix ? std::string() : std::to_string(i) + ") ", failure(name, code));
  }
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _linalg_check_errors)
      .cpu(check_errors_kernel)
      .meta([](const Tensor&, std::string_view, bool) {});

  define_factorization(m, linalg_cholesky_ex, cholesky_kernel<true>, cholesky_kernel<false>, "L",
                       {"L", "info"});
  const auto cholesky_of = [](const Tensor& a, bool upper) {
    const auto [result, info] = linalg_cholesky_ex(a, upper, false);
    check_errors("linalg.cholesky", info, true);
    return result;
  };
  define(m, linalg_cholesky).composed(cholesky_of).out(linalg_cholesky_out, kStructuredOut);
  define(m, cholesky).composed(cholesky_of).out(cholesky_out, kCastOut);
}

}  // namespace sb
