// What lapack/lapack.h has, for a machine without LAPACK: by Eigen, in double precision, several
// times slower. The same arguments and results.

#ifndef SWITCHBOARD_OPS_LINALG_BY_EIGEN_BY_EIGEN_H_
#define SWITCHBOARD_OPS_LINALG_BY_EIGEN_BY_EIGEN_H_

#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb::by_eigen {

using lapack::Real;

template <class T>
int32_t gesdd(lapack::Vectors vectors, int64_t rows, int64_t cols, T* a, Real<T>* s, T* u, T* vh);
template <class T>
int32_t heevd(bool with_vectors, bool upper, int64_t n, T* a, Real<T>* values);
template <class T>
int32_t geev(int64_t n, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors);

}  // namespace sb::by_eigen

#endif  // SWITCHBOARD_OPS_LINALG_BY_EIGEN_BY_EIGEN_H_
