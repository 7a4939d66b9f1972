#include "Eigen/QR"

#include <vector>

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb {
namespace {

// In double precision, whatever they are.
void qr_by_eigen(const Tensor& a, bool with_q, const Tensor& q, const Tensor& r) {
  const int64_t n = r.size(-2);
  const Tensor copy = wide_copy(a);
  const Tensor wide_r = empty_matrices(a, n, a.size(-1), copy.dtype());
  const Tensor wide_q = empty_matrices(a, a.size(-2), n, copy.dtype());
  visit_wide_type(a.dtype(), [&]<class T>() {
    for_each_matrix(copy, [&](int64_t i) {
      const Eigen::HouseholderQR<ColumnMajor<T>> factors(matrix_at<T>(copy, i));
      matrix_at<T>(wide_r, i) =
          factors.matrixQR().topRows(n).template triangularView<Eigen::Upper>();
      if (with_q) {
        matrix_at<T>(wide_q, i) = factors.householderQ() * ColumnMajor<T>::Identity(a.size(-2), n);
      }
    });
  });
  copy_elements(r, wide_r);
  if (with_q) copy_elements(q, wide_q);
}

void qr_by_lapack(const Tensor& a, bool with_q, const Tensor& q, const Tensor& r) {
  const int64_t rows = a.size(-2), cols = a.size(-1), n = r.size(-2);
  const int64_t reflections = std::min(rows, cols);
  const Tensor copy = empty_matrices(a, rows, cols);
  copy_elements(copy, a);
  visit_matrix_type(a.dtype(), [&]<class T>() {
    for_each_matrix(copy, [&](int64_t i) {
      auto factors = matrix_at<T>(copy, i);
      std::vector<T> tau(static_cast<size_t>(reflections));
      lapack::geqrf(rows, cols, factors.data(), tau.data());
      matrix_at<T>(r, i) = factors.topRows(n).template triangularView<Eigen::Upper>();
      if (!with_q) return;
      auto columns = matrix_at<T>(q, i);
      columns.leftCols(reflections) = factors.leftCols(reflections);
      lapack::orgqr(rows, n, reflections, columns.data(), tau.data());
    });
  });
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
  const Tensor r = empty_matrices(a, n, cols, a.dtype());
  const Tensor q =
      with_q ? empty_matrices(a, rows, n, a.dtype()) : empty_on(a.device(), {0}, a.dtype());
  if constexpr (with_data) {
    if (rows == 0 || cols == 0) {
      visit_matrix_type(a.dtype(), [&]<class T>() {
        for (int64_t i = 0; with_q && i < num_matrices(a); ++i) matrix_at<T>(q, i).setIdentity();
      });
    } else {
      (lapack::is_available() ? qr_by_lapack : qr_by_eigen)(a, with_q, q, r);
    }
  }
  return {q, r};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto composite = DispatchKey::CompositeImplicitAutograd;
  define_factorization(m, linalg_qr, qr_kernel<true>, qr_kernel<false>, "out", {"Q", "R"});
  define(m, qr)
      .composed([](const Tensor& self, bool some) {
        return linalg_qr(self, some ? "reduced" : "complete");
      })
      .out("Q", {"Q", "R"}, {.dtype = OutDType::Exact, .keep_strides = true, .key = composite});
}

}  // namespace sb
