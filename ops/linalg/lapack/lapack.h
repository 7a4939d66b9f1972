// LAPACK, from a shared library that is loaded when a program first factorizes a matrix.
//
// Matrices are column-major and without gaps, and are overwritten as LAPACK's manual says of each
// routine. The functions below are for float, double and their complex types; they need a LAPACK
// (is_available), allocate what work space they need, may be called on several threads at once and
// use one thread each. They return LAPACK's info: 0, or the place where the matrix is found to be
// singular or not positive definite, or how much did not converge, counted from 1; less than 0 for
// an argument that it refuses. RuntimeError for sizes of 2^31 or more.

#ifndef SWITCHBOARD_OPS_LINALG_LAPACK_LAPACK_H_
#define SWITCHBOARD_OPS_LINALG_LAPACK_LAPACK_H_

#include <complex>
#include <cstdint>
#include <string>

namespace sb::lapack {

// The real type of the parts of T.
template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;

// Whether there is one. The first call looks for the library that the environment variable
// SB_LAPACK names, or else liblapack.so.3; SB_LAPACK=none says to do without. RuntimeError where
// the one that is named cannot be loaded, and for one that lacks a routine.
bool is_available();
// The file that was loaded, as it was named; "" without one.
std::string library();

// P L U, of rows x cols; min(rows, cols) pivots, counted from 1.
template <class T>
int32_t getrf(int64_t rows, int64_t cols, T* a, int32_t* pivots);
// Makes the n x columns matrix x, whose columns are `x_leading` elements apart, the solution of
// A X = X. A is triangular, its columns `leading` elements apart, or the transposed of what lies
// there; `upper` says which triangle it then has. Of BLAS, which every LAPACK brings.
template <class T>
void trsm(bool transposed, bool upper, bool unit, int64_t n, int64_t columns, const T* a,
          int64_t leading, T* x, int64_t x_leading);
// Cholesky's factor, in one triangle. The other one is left as it is.
template <class T>
int32_t potrf(bool upper, int64_t n, T* a);
// R, and below it the reflections of Q, with min(rows, cols) factors of them in tau.
template <class T>
int32_t geqrf(int64_t rows, int64_t cols, T* a, T* tau);
// The first cols columns of Q, of `reflections` reflections in a. LAPACK's orgqr and ungqr.
template <class T>
int32_t orgqr(int64_t rows, int64_t cols, int64_t reflections, T* a, const T* tau);
// The factors of a symmetric matrix, A = L D L^T, or of a Hermitian one, from the lower triangle;
// and the solution of A X = X by them, of `columns` columns. LAPACK's sytrf and hetrf, sytrs and
// hetrs.
template <class T>
int32_t sytrf(bool hermitian, int64_t n, T* a, int32_t* pivots);
template <class T>
int32_t sytrs(bool hermitian, int64_t n, int64_t columns, const T* a, const int32_t* pivots, T* x);
// A = U diag(s) Vh, s in descending order. Of U and Vh: none, as many columns and rows as there are
// singular values, or all.
enum class Vectors { None, Thin, Full };
template <class T>
int32_t gesdd(Vectors vectors, int64_t rows, int64_t cols, T* a, Real<T>* s, T* u, T* vh);
// Eigenvalues in ascending order, and eigenvectors in place of a, of the Hermitian matrix that has
// this triangle. LAPACK's syevd and heevd.
template <class T>
int32_t heevd(bool with_vectors, bool upper, int64_t n, T* a, Real<T>* values);
// Eigenvalues and, unless it is null, right eigenvectors of modulus 1.
template <class T>
int32_t geev(int64_t n, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors);

}  // namespace sb::lapack

#endif  // SWITCHBOARD_OPS_LINALG_LAPACK_LAPACK_H_
