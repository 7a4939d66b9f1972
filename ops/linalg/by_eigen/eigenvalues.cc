#include "Eigen/Eigenvalues"

#include "switchboard/ops/linalg/by_eigen/by_eigen.h"
#include "switchboard/ops/linalg/by_eigen/wide_matrix.h"

namespace sb::by_eigen {

template <class T>
int32_t heevd(bool with_vectors, bool upper, int64_t n, T* a, Real<T>* values) {
  using Wide = WideOf<T>;
  Eigen::Map<ColumnMajor<T>> matrix(a, n, n);
  ColumnMajor<Wide> wide = matrix.template cast<Wide>();
  // Eigen reads the lower triangle.
  if (upper) wide = wide.adjoint().eval();
  const Eigen::SelfAdjointEigenSolver<ColumnMajor<Wide>> solver(
      wide, with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return 1;
  Eigen::Map<ColumnMajor<Real<T>>>(values, n, 1) = solver.eigenvalues().template cast<Real<T>>();
  if (with_vectors) matrix = solver.eigenvectors().template cast<T>();
  return 0;
}

template <class T>
int32_t geev(int64_t n, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors) {
  using Wide = WideOf<T>;
  using Complex = std::complex<Real<T>>;
  using Solver = std::conditional_t<Eigen::NumTraits<T>::IsComplex,
                                    Eigen::ComplexEigenSolver<ColumnMajor<Wide>>,
                                    Eigen::EigenSolver<ColumnMajor<Wide>>>;
  const Solver solver(Eigen::Map<const ColumnMajor<T>>(a, n, n).template cast<Wide>(),
                      /*computeEigenvectors=*/vectors != nullptr);
  if (solver.info() != Eigen::Success) return 1;
  Eigen::Map<ColumnMajor<Complex>>(values, n, 1) = solver.eigenvalues().template cast<Complex>();
  if (vectors) {
    Eigen::Map<ColumnMajor<Complex>>(vectors, n, n) =
        solver.eigenvectors().template cast<Complex>();
  }
  return 0;
}

template int32_t heevd(bool, bool, int64_t, float*, float*);
template int32_t heevd(bool, bool, int64_t, double*, double*);
template int32_t heevd(bool, bool, int64_t, std::complex<float>*, float*);
template int32_t heevd(bool, bool, int64_t, std::complex<double>*, double*);
template int32_t geev(int64_t, float*, std::complex<float>*, std::complex<float>*);
template int32_t geev(int64_t, double*, std::complex<double>*, std::complex<double>*);
template int32_t geev(int64_t, std::complex<float>*, std::complex<float>*, std::complex<float>*);
template int32_t geev(int64_t, std::complex<double>*, std::complex<double>*, std::complex<double>*);

}  // namespace sb::by_eigen
