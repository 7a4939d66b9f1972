#include "switchboard/ops/linalg/singular_values.h"

#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/by_eigen/by_eigen.h"
#include "switchboard/ops/linalg/factorization.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using lapack::Vectors;

void decompose(const Tensor& copy, Vectors vectors, const Tensor& u, const Tensor& s,
               const Tensor& vh, const Tensor& info) {
  const int64_t rows = copy.size(-2), cols = copy.size(-1), count = std::min(rows, cols);
  const bool by_lapack = lapack::is_available();
  visit_matrix_type(copy.dtype(), [&]<class T>() {
    for_each_matrix(copy, [&](int64_t i) {
      auto a = matrix_at<T>(copy, i);
      T *left = nullptr, *right = nullptr;
      if (vectors != Vectors::None) {
        auto columns = matrix_at<T>(u, i), rows_of_v = matrix_at<T>(vh, i);
        if (a.size() == 0) columns.setIdentity(), rows_of_v.setIdentity();
        left = columns.data();
        right = rows_of_v.data();
      }
      info.data<int32_t>()[i] = decompose_finite(a, [&] {
        return (by_lapack ? lapack::gesdd<T>
                          : by_eigen::gesdd<T>)(vectors, rows, cols, a.data(),
                                                vector_at<lapack::Real<T>>(s, i, count), left,
                                                right);
      });
    });
  });
}

template <bool with_data>
Three svd_kernel(const Tensor& a, bool full, bool with_vectors,
                 std::optional<std::string_view> driver) {
  constexpr const char* op = "linalg_svd";
  check_matrices(op, a);
  SB_CHECK(!driver, op, ": driver: expected none on CPU, got ", driver.value_or(""));
  const SymInt rows = a.sym_size(-2), cols = a.sym_size(-1), count = sym_min(rows, cols);
  const auto none = [&] { return empty_on(a.device(), {0}, a.dtype()); };
  const Tensor u = with_vectors ? empty_matrices(a, rows, full ? rows : count) : none();
  const Tensor s = empty_batch(a, {count}, to_real(a.dtype()));
  const Tensor vh = with_vectors ? empty_matrices(a, full ? cols : count, cols) : none();
  if constexpr (with_data) {
    const Tensor copy = empty_matrices(a, rows, cols);
    copy_elements(copy, a);
    const Tensor info = empty_batch(a, {}, DType::Int32);
    decompose(copy,
              !with_vectors ? Vectors::None
              : full        ? Vectors::Full
                            : Vectors::Thin,
              u, s, vh, info);
    check_errors("linalg.svd", info, true);
  }
  return {u, s, vh};
}

Tensor svdvals(const Tensor& a, std::optional<std::string_view> driver) {
  // Their derivative needs the vectors.
  const bool with_vectors = requires_grad_now(a);
  return std::get<1>(_linalg_svd(a, /*full_matrices=*/false, with_vectors, driver));
}

Three svd_with_v(const Tensor& self, bool some, bool with_vectors) {
  check_matrices("svd", self);
  if (with_vectors) {
    const auto [u, s, vh] = linalg_svd(self, !some, std::nullopt);
    return {u, s, conj(transpose(vh, -2, -1))};
  }
  const auto zero = [&](int64_t d) {
    const SymDimVector sizes = sym_batch_and(self, {self.sym_size(d), self.sym_size(d)});
    return zeros(SymIntArrayRef(sizes), self.dtype(), std::nullopt, self.device());
  };
  return {zero(-2), linalg_svdvals(self, std::nullopt), zero(-1)};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_factorization(m, _linalg_svd, svd_kernel<true>, svd_kernel<false>, "U", {"U", "S", "Vh"});
  define(m, linalg_svd)
      .composed([](const Tensor& a, bool full, std::optional<std::string_view> driver) {
        return _linalg_svd(a, full, /*compute_uv=*/true, driver);
      })
      .out("U", {"U", "S", "Vh"}, kStructuredOut);
  define(m, linalg_svdvals).composed(svdvals).out(linalg_svdvals_out, kStructuredOut);
  define(m, svd).composed(svd_with_v).out("U", {"U", "S", "V"}, kStructuredOut);
}

}  // namespace sb
