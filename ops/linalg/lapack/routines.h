// The routines of LAPACK as they are called. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_LAPACK_ROUTINES_H_
#define SWITCHBOARD_OPS_LINALG_LAPACK_ROUTINES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb::lapack {

// Fortran takes everything by address, and the length of each string behind all other arguments.
using Int = int32_t;
using Length = size_t;

// The routines whose arguments depend on whether numbers are complex.
template <class T>
struct DecompositionRoutines {
  void (*gesdd)(const char* vectors, const Int* rows, const Int* cols, T* a, const Int* lda, T* s,
                T* u, const Int* ldu, T* vh, const Int* ldvh, T* work, const Int* lwork, Int* iwork,
                Int* info, Length);
  void (*heevd)(const char* vectors, const char* triangle, const Int* n, T* a, const Int* lda,
                T* values, T* work, const Int* lwork, Int* iwork, const Int* liwork, Int* info,
                Length, Length);
  void (*geev)(const char* left, const char* right, const Int* n, T* a, const Int* lda, T* real,
               T* imaginary, T* vl, const Int* ldvl, T* vr, const Int* ldvr, T* work,
               const Int* lwork, Int* info, Length, Length);
};
template <class R>
struct DecompositionRoutines<std::complex<R>> {
  using T = std::complex<R>;
  void (*gesdd)(const char* vectors, const Int* rows, const Int* cols, T* a, const Int* lda, R* s,
                T* u, const Int* ldu, T* vh, const Int* ldvh, T* work, const Int* lwork, R* rwork,
                Int* iwork, Int* info, Length);
  void (*heevd)(const char* vectors, const char* triangle, const Int* n, T* a, const Int* lda,
                R* values, T* work, const Int* lwork, R* rwork, const Int* lrwork, Int* iwork,
                const Int* liwork, Int* info, Length, Length);
  void (*geev)(const char* left, const char* right, const Int* n, T* a, const Int* lda, T* values,
               T* vl, const Int* ldvl, T* vr, const Int* ldvr, T* work, const Int* lwork, R* rwork,
               Int* info, Length, Length);
};
template <class T>
struct Routines : DecompositionRoutines<T> {
  void (*getrf)(const Int* rows, const Int* cols, T* a, const Int* lda, Int* pivots, Int* info);
  void (*trsm)(const char* side, const char* triangle, const char* transposed, const char* unit,
               const Int* n, const Int* columns, const T* one, const T* a, const Int* lda, T* x,
               const Int* ldx, Length, Length, Length, Length);
  void (*potrf)(const char* triangle, const Int* n, T* a, const Int* lda, Int* info, Length);
  void (*geqrf)(const Int* rows, const Int* cols, T* a, const Int* lda, T* tau, T* work,
                const Int* lwork, Int* info);
  void (*orgqr)(const Int* rows, const Int* cols, const Int* reflections, T* a, const Int* lda,
                const T* tau, T* work, const Int* lwork, Int* info);
  using Factor = void (*)(const char* triangle, const Int* n, T* a, const Int* lda, Int* pivots,
                          T* work, const Int* lwork, Int* info, Length);
  using Solve = void (*)(const char* triangle, const Int* n, const Int* columns, const T* a,
                         const Int* lda, const Int* pivots, T* x, const Int* ldx, Int* info,
                         Length);
  Factor sytrf, hetrf;  // of real numbers, both are the same
  Solve sytrs, hetrs;
};

// A LAPACK that is loaded, or none.
struct Loaded {
  std::string library;
  Routines<float> single_real{};
  Routines<double> double_real{};
  Routines<std::complex<float>> single_complex{};
  Routines<std::complex<double>> double_complex{};
};
// Loads it at the first call. Throws what is_available throws, each time.
const Loaded& loaded();

template <class T>
const Routines<T>& routines() {
  if constexpr (std::is_same_v<T, float>)
    return loaded().single_real;
  else if constexpr (std::is_same_v<T, double>)
    return loaded().double_real;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return loaded().single_complex;
  else
    return loaded().double_complex;
}

}  // namespace sb::lapack

#endif  // SWITCHBOARD_OPS_LINALG_LAPACK_ROUTINES_H_
