// Where the machine has a LAPACK: what cannot be seen through the operators that are made of it.

#include "switchboard/ops/linalg/lapack/lapack.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/ops/cpu/cpu_capability.h"

namespace sb::lapack {
namespace {

TEST_CASE("a program that has not factorized has not loaded a library") {
  if (std::getenv("SB_LAPACK")) return;
  CHECK(dlopen("liblapack.so.3", RTLD_LAZY | RTLD_NOLOAD) == nullptr);
}

TEST_CASE("OpenBLAS computes on one thread, with the instructions that this CPU has") {
  if (!is_available()) return;
  void* const handle = dlopen(library().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(handle);
  const auto threads = reinterpret_cast<int (*)()>(dlsym(handle, "openblas_get_num_threads"));
  const auto kernels = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_corename"));
  if (threads) CHECK(threads() == 1);
  // What it falls back to where it does not know the CPU.
  if (kernels && !std::getenv("OPENBLAS_CORETYPE") && cpu_capability() >= CpuCapability::Avx2)
    CHECK(kernels() != std::string("Prescott"));
}

TEST_CASE("each routine is called with the arguments that Fortran expects, for each type") {
  if (!is_available()) return;
  CHECK_FALSE(library().empty());
  const auto check = []<class T>(T imaginary) {
    // Hermitian, positive definite, with the eigenvalues 1 and 3; column by column.
    const std::vector<T> matrix = {T(2), imaginary,
                                   std::is_same_v<T, Real<T>> ? imaginary : -imaginary, T(2)};
    std::vector<T> a = matrix, u(4), vh(4);
    std::vector<Real<T>> real(2);
    CHECK(gesdd(Vectors::Full, 2, 2, a.data(), real.data(), u.data(), vh.data()) == 0);
    CHECK(real[0] == Approx(3));
    CHECK(real[1] == Approx(1));
    CHECK(std::abs(u[0]) == Approx(std::sqrt(0.5)));

    a = matrix;
    CHECK(heevd(true, false, 2, a.data(), real.data()) == 0);
    CHECK(real[0] == Approx(1));
    CHECK(std::abs(a[3]) == Approx(std::sqrt(0.5)));

    a = matrix;
    std::vector<std::complex<Real<T>>> values(2), vectors(4);
    CHECK(geev(2, a.data(), values.data(), vectors.data()) == 0);
    CHECK(std::abs(values[0] * values[1]) == Approx(3));
    CHECK(std::abs(vectors[0]) == Approx(std::sqrt(0.5)));

    a = matrix;
    CHECK(potrf(false, 2, a.data()) == 0);
    CHECK(std::abs(a[3]) == Approx(std::sqrt(1.5)));

    a = matrix;
    std::vector<int32_t> pivots(2);
    CHECK(getrf(2, 2, a.data(), pivots.data()) == 0);
    CHECK(pivots == std::vector<int32_t>{1, 2});
    // The lower triangle of `matrix` and its transposed, times (1, 1).
    std::vector<T> b = {T(2), T(2) + imaginary};
    trsm(/*transposed=*/false, /*upper=*/false, /*unit=*/false, 2, 1, matrix.data(), 2, b.data(),
         2);
    CHECK(std::abs(b[0] - T(1)) < 1e-6);
    CHECK(std::abs(b[1] - T(1)) < 1e-6);
    b = {T(1) + imaginary, T(1)};
    trsm(/*transposed=*/true, /*upper=*/true, /*unit=*/true, 2, 1, matrix.data(), 2, b.data(), 2);
    CHECK(std::abs(b[0] - T(1)) < 1e-6);

    a = matrix;
    std::vector<T> tau(2);
    CHECK(geqrf(2, 2, a.data(), tau.data()) == 0);
    CHECK(std::abs(a[0]) == Approx(std::sqrt(5.)));
    CHECK(orgqr(2, 2, 2, a.data(), tau.data()) == 0);
    CHECK(std::abs(a[0]) == Approx(2 / std::sqrt(5.)));
  };
  check(1.f);
  check(1.);
  check(std::complex<float>(0, 1));
  check(std::complex<double>(0, 1));
}

TEST_CASE("info says where a matrix is singular or not positive definite") {
  if (!is_available()) return;
  std::vector<double> singular = {1, 2, 2, 4}, indefinite = {1, 0, 0, -1};
  std::vector<int32_t> pivots(2);
  CHECK(getrf(2, 2, singular.data(), pivots.data()) == 2);
  CHECK(potrf(false, 2, indefinite.data()) == 2);
}

TEST_CASE("conjugate eigenvalues of a real matrix have conjugate vectors") {
  if (!is_available()) return;
  std::vector<double> rotation = {0, 1, 0, -1, 0, 0, 0, 0, 5};
  std::vector<std::complex<double>> values(3), vectors(9);
  CHECK(geev(3, rotation.data(), values.data(), vectors.data()) == 0);
  for (size_t i = 0; i < 3; ++i) {
    const auto* v = vectors.data() + 3 * i;
    CHECK(std::abs(-v[1] - values[i] * v[0]) < 1e-12);
    CHECK(std::abs(v[0] - values[i] * v[1]) < 1e-12);
    CHECK(std::abs(5. * v[2] - values[i] * v[2]) < 1e-12);
  }
}

TEST_CASE("sizes that Fortran's integers do not hold are refused") {
  if (!is_available()) return;
  double a = 0;
  int32_t pivot = 0;
  CHECK_THROWS_WITH(getrf(int64_t{1} << 31, 1, &a, &pivot),
                    Catch::Contains("expected sizes below 2^31, got 2147483648"));
}

}  // namespace
}  // namespace sb::lapack
