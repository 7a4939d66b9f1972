#include "Eigen/QR"

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorization.h"

namespace sb {
namespace {

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
    const Tensor copy = wide_copy(a);
    const Tensor wide_r = empty_matrices(a, n, cols, copy.dtype());
    const Tensor wide_q = empty_matrices(a, rows, n, copy.dtype());
    visit_wide_type(a.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < num_matrices(a); ++i) {
        if (rows == 0 || cols == 0) {
          matrix_at<T>(wide_q, i).setIdentity();
          continue;
        }
        const Eigen::HouseholderQR<ColumnMajor<T>> factors(matrix_at<T>(copy, i));
        matrix_at<T>(wide_r, i) =
            factors.matrixQR().topRows(n).template triangularView<Eigen::Upper>();
        if (with_q) {
          matrix_at<T>(wide_q, i) = factors.householderQ() * ColumnMajor<T>::Identity(rows, n);
        }
      }
    });
    copy_elements(r, wide_r);
    if (with_q) copy_elements(q, wide_q);
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
