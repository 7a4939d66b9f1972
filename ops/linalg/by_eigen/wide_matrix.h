// Matrices as Eigen has them. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_BY_EIGEN_WIDE_MATRIX_H_
#define SWITCHBOARD_OPS_LINALG_BY_EIGEN_WIDE_MATRIX_H_

#include <complex>
#include <type_traits>

#include "Eigen/Core"

namespace sb::by_eigen {

template <class T>
using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
// T in double precision.
template <class T>
using WideOf = std::conditional_t<Eigen::NumTraits<T>::IsComplex, std::complex<double>, double>;

}  // namespace sb::by_eigen

#endif  // SWITCHBOARD_OPS_LINALG_BY_EIGEN_WIDE_MATRIX_H_
