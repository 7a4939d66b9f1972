#include "switchboard/ops/linalg/eigenvalues.h"

#include "switchboard/ops/linalg/by_eigen/by_eigen.h"
#include "switchboard/ops/linalg/factorization.h"

namespace sb {
namespace {

bool is_upper(std::string_view triangle) {
  const bool upper = triangle == "U" || triangle == "u";
  SB_CHECK(upper || triangle == "L" || triangle == "l",
           "linalg_eigh: UPLO: expected 'L' or 'U', got '", triangle, "'");
  return upper;
}

template <bool with_data>
Two eigh_kernel(const Tensor& a, std::string_view triangle, bool with_vectors) {
  check_square("linalg_eigh", a, Integers::HaveNoKernel);
  const bool upper = is_upper(triangle);
  const SymInt n = a.sym_size(-1);
  const Tensor values = empty_batch(a, {n}, to_real(a.dtype()));
  const Tensor copy = with_data || with_vectors ? empty_matrices(a, n, n) : Tensor();
  if constexpr (with_data) {
    copy_elements(copy, a);
    const Tensor info = empty_batch(a, {}, DType::Int32);
    const bool by_lapack = lapack::is_available();
    visit_matrix_type(a.dtype(), [&]<class T>() {
      for_each_matrix(copy, [&](int64_t i) {
        auto matrix = matrix_at<T>(copy, i);
        const int64_t size = matrix.rows();
        info.data<int32_t>()[i] = decompose_finite(matrix, [&] {
          return (by_lapack ? lapack::heevd<T>
                            : by_eigen::heevd<T>)(with_vectors, upper, size, matrix.data(),
                                                  vector_at<lapack::Real<T>>(values, i, size));
        });
      });
    });
    check_errors("linalg.eigh", info, true);
  }
  return {values, with_vectors ? copy : empty_on(a.device(), {0}, a.dtype())};
}

template <bool with_data>
Two eig(const char* op, const Tensor& a, bool with_vectors) {
  check_square(op, a);
  const SymInt n = a.sym_size(-1);
  const DType dtype = to_complex(a.dtype());
  const Tensor values = empty_batch(a, {n}, dtype);
  const Tensor vectors = with_vectors ? empty_matrices(a, n, n, dtype) : Tensor();
  if constexpr (with_data) {
    const Tensor copy = empty_matrices(a, n, n);
    copy_elements(copy, a);
    const Tensor info = empty_batch(a, {}, DType::Int32);
    const bool by_lapack = lapack::is_available();
    visit_matrix_type(a.dtype(), [&]<class T>() {
      using Complex = std::complex<lapack::Real<T>>;
      for_each_matrix(copy, [&](int64_t i) {
        auto matrix = matrix_at<T>(copy, i);
        const int64_t size = matrix.rows();
        info.data<int32_t>()[i] = decompose_finite(matrix, [&] {
          return (by_lapack
                      ? lapack::geev<T>
                      : by_eigen::geev<T>)(size, matrix.data(), vector_at<Complex>(values, i, size),
                                           with_vectors ? matrix_at<Complex>(vectors, i).data()
                                                        : nullptr);
        });
      });
    });
    check_errors("linalg.eig", info, true);
  }
  return {values, vectors};
}
template <bool with_data>
Two eig_kernel(const Tensor& a) {
  return eig<with_data>("linalg_eig", a, /*with_vectors=*/true);
}
template <bool with_data>
Tensor eigvals_kernel(const Tensor& a) {
  return std::get<0>(eig<with_data>("linalg_eigvals", a, /*with_vectors=*/false));
}

// Derivatives of eigenvalues need the vectors.
Tensor eigvals(const Tensor& self) {
  return requires_grad_now(self) ? std::get<0>(linalg_eig(self)) : _linalg_eigvals(self);
}
Tensor eigvalsh(const Tensor& self, std::string_view triangle) {
  return std::get<0>(_linalg_eigh(self, triangle, /*compute_v=*/requires_grad_now(self)));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_factorization(m, _linalg_eigh, eigh_kernel<true>, eigh_kernel<false>, "eigenvalues",
                       {"eigenvalues", "eigenvectors"});
  define(m, linalg_eigh)
      .composed([](const Tensor& self, std::string_view triangle) {
        return _linalg_eigh(self, triangle, /*compute_v=*/true);
      })
      .out("eigvals", {"eigvals", "eigvecs"}, kStructuredOut);
  define(m, linalg_eigvalsh).composed(eigvalsh).out(linalg_eigvalsh_out, kStructuredOut);

  constexpr OutOptions cast = {.dtype = OutDType::Cast, .keep_strides = true};
  define(m, linalg_eig)
      .cpu(eig_kernel<true>)
      .meta(eig_kernel<false>)
      .out("out", {"eigenvalues", "eigenvectors"}, cast);
  define(m, _linalg_eigvals).cpu(eigvals_kernel<true>).meta(eigvals_kernel<false>);
  define(m, linalg_eigvals).composed(eigvals).out(linalg_eigvals_out, cast);
}

}  // namespace sb
