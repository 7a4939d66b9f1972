#include "switchboard/ops/linalg/lapack/lapack.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/ops/linalg/lapack/routines.h"

namespace sb::lapack {
namespace {

template <class T>
constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

Int as_int(int64_t n) {
  SB_CHECK(n <= std::numeric_limits<Int>::max(), "LAPACK: expected sizes below 2^31, got ", n);
  return static_cast<Int>(n);
}
// The distance of columns, which LAPACK wants to be at least 1.
Int leading(int64_t rows) { return as_int(std::max<int64_t>(rows, 1)); }

// How much LAPACK asks for, which it says as a number of the matrix's type. A float may have been
// rounded down.
template <class T>
Int asked(T size) {
  const double value = std::real(size);
  const double up = sizeof(Real<T>) == 4 ? value * (1 + 1e-6) : value;
  return as_int(static_cast<int64_t>(up) + 1);
}
// Asks call(work, size) how much work space it wants, and calls it with that.
template <class T, class F>
void with_work(const F& call) {
  const Int question = -1;
  T answer{};
  call(&answer, &question);
  const Int size = asked(answer);
  std::vector<T> work(static_cast<size_t>(size));
  call(work.data(), &size);
}

}  // namespace

template <class T>
int32_t getrf(int64_t rows, int64_t cols, T* a, int32_t* pivots) {
  const Int m = as_int(rows), n = as_int(cols), lda = leading(rows);
  Int info = 0;
  routines<T>().getrf(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
void trsm(bool transposed, bool upper, bool unit, int64_t n, int64_t columns, const T* a,
          int64_t leading, T* x, int64_t x_leading) {
  const Int size = as_int(n), count = as_int(columns), lda = as_int(leading),
            ldx = as_int(x_leading);
  const T one = 1;
  routines<T>().trsm("L", upper != transposed ? "U" : "L", transposed ? "T" : "N", unit ? "U" : "N",
                     &size, &count, &one, a, &lda, x, &ldx, 1, 1, 1, 1);
}

template <class T>
int32_t potrf(bool upper, int64_t n, T* a) {
  const Int size = as_int(n), lda = leading(n);
  Int info = 0;
  routines<T>().potrf(upper ? "U" : "L", &size, a, &lda, &info, 1);
  return info;
}

template <class T>
int32_t geqrf(int64_t rows, int64_t cols, T* a, T* tau) {
  const Int m = as_int(rows), n = as_int(cols), lda = leading(rows);
  Int info = 0;
  with_work<T>([&](T* work, const Int* size) {
    routines<T>().geqrf(&m, &n, a, &lda, tau, work, size, &info);
  });
  return info;
}

template <class T>
int32_t orgqr(int64_t rows, int64_t cols, int64_t reflections, T* a, const T* tau) {
  const Int m = as_int(rows), n = as_int(cols), k = as_int(reflections), lda = leading(rows);
  Int info = 0;
  with_work<T>([&](T* work, const Int* size) {
    routines<T>().orgqr(&m, &n, &k, a, &lda, tau, work, size, &info);
  });
  return info;
}

template <class T>
int32_t sytrf(bool hermitian, int64_t n, T* a, int32_t* pivots) {
  const Int size = as_int(n), lda = leading(n);
  Int info = 0;
  const auto factor = hermitian ? routines<T>().hetrf : routines<T>().sytrf;
  with_work<T>([&](T* work, const Int* lwork) {
    factor("L", &size, a, &lda, pivots, work, lwork, &info, 1);
  });
  return info;
}

template <class T>
int32_t sytrs(bool hermitian, int64_t n, int64_t columns, const T* a, const int32_t* pivots, T* x) {
  const Int size = as_int(n), count = as_int(columns), lda = leading(n);
  Int info = 0;
  const auto solve = hermitian ? routines<T>().hetrs : routines<T>().sytrs;
  solve("L", &size, &count, a, &lda, pivots, x, &lda, &info, 1);
  return info;
}

template <class T>
int32_t gesdd(Vectors vectors, int64_t rows, int64_t cols, T* a, Real<T>* s, T* u, T* vh) {
  const Int m = as_int(rows), n = as_int(cols), lda = leading(rows);
  const int64_t least = std::min(rows, cols), most = std::max(rows, cols);
  const Int ldvh = leading(vectors == Vectors::Full ? cols : least);
  const char* const job = vectors == Vectors::None ? "N" : vectors == Vectors::Thin ? "S" : "A";
  std::vector<Int> iwork(static_cast<size_t>(8 * least));
  std::vector<Real<T>> rwork;
  if constexpr (is_complex<T>) {
    // As releases before LAPACK 3.7 have it.
    rwork.resize(static_cast<size_t>(
        vectors == Vectors::None ? 7 * least
                                 : least * std::max(5 * least + 7, 2 * (most + least) + 1)));
  }
  Int info = 0;
  with_work<T>([&](T* work, const Int* size) {
    if constexpr (is_complex<T>) {
      routines<T>().gesdd(job, &m, &n, a, &lda, s, u, &lda, vh, &ldvh, work, size, rwork.data(),
                          iwork.data(), &info, 1);
    } else {
      routines<T>().gesdd(job, &m, &n, a, &lda, s, u, &lda, vh, &ldvh, work, size, iwork.data(),
                          &info, 1);
    }
  });
  return info;
}

template <class T>
int32_t heevd(bool with_vectors, bool upper, int64_t n, T* a, Real<T>* values) {
  const Int size = as_int(n), lda = leading(n), question = -1;
  const char *const job = with_vectors ? "V" : "N", *const triangle = upper ? "U" : "L";
  Int info = 0;
  const auto call = [&](T* work, const Int* lwork, Real<T>* rwork, const Int* lrwork, Int* iwork,
                        const Int* liwork) {
    if constexpr (is_complex<T>) {
      routines<T>().heevd(job, triangle, &size, a, &lda, values, work, lwork, rwork, lrwork, iwork,
                          liwork, &info, 1, 1);
    } else {
      static_cast<void>(rwork), static_cast<void>(lrwork);
      routines<T>().heevd(job, triangle, &size, a, &lda, values, work, lwork, iwork, liwork, &info,
                          1, 1);
    }
  };
  T work_answer{};
  Real<T> rwork_answer{};
  Int iwork_answer = 0;
  call(&work_answer, &question, &rwork_answer, &question, &iwork_answer, &question);
  const Int lwork = asked(work_answer), lrwork = asked(rwork_answer),
            liwork = std::max(iwork_answer, 1);
  std::vector<T> work(static_cast<size_t>(lwork));
  std::vector<Real<T>> rwork(static_cast<size_t>(lrwork));
  std::vector<Int> iwork(static_cast<size_t>(liwork));
  call(work.data(), &lwork, rwork.data(), &lrwork, iwork.data(), &liwork);
  return info;
}

template <class T>
int32_t geev(int64_t n, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors) {
  const Int size = as_int(n), lda = leading(n), one = 1;
  const char* const right = vectors ? "V" : "N";
  const Int ldvr = vectors ? lda : 1;
  Int info = 0;
  if constexpr (is_complex<T>) {
    std::vector<Real<T>> rwork(static_cast<size_t>(2 * n));
    with_work<T>([&](T* work, const Int* lwork) {
      routines<T>().geev("N", right, &size, a, &lda, values, nullptr, &one, vectors, &ldvr, work,
                         lwork, rwork.data(), &info, 1, 1);
    });
  } else {
    const auto count = static_cast<size_t>(n);
    std::vector<T> real(count), imaginary(count), packed(vectors ? count * count : 0);
    with_work<T>([&](T* work, const Int* lwork) {
      routines<T>().geev("N", right, &size, a, &lda, real.data(), imaginary.data(), nullptr, &one,
                         packed.data(), &ldvr, work, lwork, &info, 1, 1);
    });
    for (size_t i = 0; i < count; ++i) values[i] = {real[i], imaginary[i]};
    if (!vectors) return info;
    // Of a conjugate pair of eigenvalues, the real and the imaginary part of the first one's
    // vector.
    for (size_t j = 0; j < count; ++j) {
      const T* const column = packed.data() + j * count;
      std::complex<T>* const out = vectors + j * count;
      if (imaginary[j] == 0 || j + 1 == count) {
        std::copy_n(column, count, out);
        continue;
      }
      for (size_t i = 0; i < count; ++i) {
        out[i] = {column[i], column[count + i]};
        out[count + i] = std::conj(out[i]);
      }
      ++j;
    }
  }
  return info;
}

template int32_t getrf(int64_t, int64_t, float*, int32_t*);
template void trsm(bool, bool, bool, int64_t, int64_t, const float*, int64_t, float*, int64_t);
template int32_t potrf(bool, int64_t, float*);
template int32_t geqrf(int64_t, int64_t, float*, float*);
template int32_t sytrf(bool, int64_t, float*, int32_t*);
template int32_t sytrs(bool, int64_t, int64_t, const float*, const int32_t*, float*);
template int32_t orgqr(int64_t, int64_t, int64_t, float*, const float*);
template int32_t gesdd(Vectors, int64_t, int64_t, float*, float*, float*, float*);
template int32_t heevd(bool, bool, int64_t, float*, float*);
template int32_t geev(int64_t, float*, std::complex<float>*, std::complex<float>*);
template int32_t getrf(int64_t, int64_t, double*, int32_t*);
template void trsm(bool, bool, bool, int64_t, int64_t, const double*, int64_t, double*, int64_t);
template int32_t potrf(bool, int64_t, double*);
template int32_t geqrf(int64_t, int64_t, double*, double*);
template int32_t sytrf(bool, int64_t, double*, int32_t*);
template int32_t sytrs(bool, int64_t, int64_t, const double*, const int32_t*, double*);
template int32_t orgqr(int64_t, int64_t, int64_t, double*, const double*);
template int32_t gesdd(Vectors, int64_t, int64_t, double*, double*, double*, double*);
template int32_t heevd(bool, bool, int64_t, double*, double*);
template int32_t geev(int64_t, double*, std::complex<double>*, std::complex<double>*);
template int32_t getrf(int64_t, int64_t, std::complex<float>*, int32_t*);
template void trsm(bool, bool, bool, int64_t, int64_t, const std::complex<float>*, int64_t,
                   std::complex<float>*, int64_t);
template int32_t potrf(bool, int64_t, std::complex<float>*);
template int32_t geqrf(int64_t, int64_t, std::complex<float>*, std::complex<float>*);
template int32_t sytrf(bool, int64_t, std::complex<float>*, int32_t*);
template int32_t sytrs(bool, int64_t, int64_t, const std::complex<float>*, const int32_t*,
                       std::complex<float>*);
template int32_t orgqr(int64_t, int64_t, int64_t, std::complex<float>*, const std::complex<float>*);
template int32_t gesdd(Vectors, int64_t, int64_t, std::complex<float>*, float*,
                       std::complex<float>*, std::complex<float>*);
template int32_t heevd(bool, bool, int64_t, std::complex<float>*, float*);
template int32_t geev(int64_t, std::complex<float>*, std::complex<float>*, std::complex<float>*);
template int32_t getrf(int64_t, int64_t, std::complex<double>*, int32_t*);
template void trsm(bool, bool, bool, int64_t, int64_t, const std::complex<double>*, int64_t,
                   std::complex<double>*, int64_t);
template int32_t potrf(bool, int64_t, std::complex<double>*);
template int32_t geqrf(int64_t, int64_t, std::complex<double>*, std::complex<double>*);
template int32_t sytrf(bool, int64_t, std::complex<double>*, int32_t*);
template int32_t sytrs(bool, int64_t, int64_t, const std::complex<double>*, const int32_t*,
                       std::complex<double>*);
template int32_t orgqr(int64_t, int64_t, int64_t, std::complex<double>*,
                       const std::complex<double>*);
template int32_t gesdd(Vectors, int64_t, int64_t, std::complex<double>*, double*,
                       std::complex<double>*, std::complex<double>*);
template int32_t heevd(bool, bool, int64_t, std::complex<double>*, double*);
template int32_t geev(int64_t, std::complex<double>*, std::complex<double>*, std::complex<double>*);

}  // namespace sb::lapack
