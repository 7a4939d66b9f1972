#include "Eigen/SVD"
#include "switchboard/ops/linalg/by_eigen/by_eigen.h"
#include "switchboard/ops/linalg/by_eigen/wide_matrix.h"

namespace sb::by_eigen {

template <class T>
int32_t gesdd(lapack::Vectors vectors, int64_t rows, int64_t cols, T* a, Real<T>* s, T* u, T* vh) {
  using Wide = WideOf<T>;
  unsigned wanted = 0;
  if (vectors == lapack::Vectors::Thin) wanted = Eigen::ComputeThinU | Eigen::ComputeThinV;
  if (vectors == lapack::Vectors::Full) wanted = Eigen::ComputeFullU | Eigen::ComputeFullV;
  const ColumnMajor<Wide> wide =
      Eigen::Map<const ColumnMajor<T>>(a, rows, cols).template cast<Wide>();
  const Eigen::BDCSVD<ColumnMajor<Wide>> svd(wide, wanted);
  if (svd.info() != Eigen::Success) return 1;
  const auto& values = svd.singularValues();
  Eigen::Map<ColumnMajor<Real<T>>>(s, values.size(), 1) = values.template cast<Real<T>>();
  if (wanted == 0) return 0;
  const auto& left = svd.matrixU();
  const auto& right = svd.matrixV();
  Eigen::Map<ColumnMajor<T>>(u, left.rows(), left.cols()) = left.template cast<T>();
  Eigen::Map<ColumnMajor<T>>(vh, right.cols(), right.rows()) = right.adjoint().template cast<T>();
  return 0;
}

template int32_t gesdd(lapack::Vectors, int64_t, int64_t, float*, float*, float*, float*);
template int32_t gesdd(lapack::Vectors, int64_t, int64_t, double*, double*, double*, double*);
template int32_t gesdd(lapack::Vectors, int64_t, int64_t, std::complex<float>*, float*,
                       std::complex<float>*, std::complex<float>*);
template int32_t gesdd(lapack::Vectors, int64_t, int64_t, std::complex<double>*, double*,
                       std::complex<double>*, std::complex<double>*);

}  // namespace sb::by_eigen
