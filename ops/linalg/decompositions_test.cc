// Singular values, eigenvalues and what is made of them. BUILD.bazel runs this with LAPACK, where
// there is one, and without.

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/eigenvalues.h"
#include "switchboard/ops/linalg/least_squares.h"
#include "switchboard/ops/linalg/pseudo_inverse.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::Sizes;
using test::sizes_of;
using test::strides_of;
using test::tensor_of;
using test::values_of;

const DType kDTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

// Without a pattern, and with imaginary parts where there are such.
Tensor matrices(const Sizes& sizes, DType dtype = DType::Float64) {
  const auto numbers = [&](double seed) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    std::vector<double> values;
    for (int64_t i = 1; i <= count; ++i)
      values.push_back(2 * std::sin(static_cast<double>(i * i) * seed));
    return tensor_of(sizes, values, DType::Float64);
  };
  const Tensor real_part = numbers(1.37);
  if (!is_complex(dtype)) return to_dtype(real_part, dtype);
  return to_dtype(add(real_part, mul_Scalar(numbers(0.7), std::complex<double>(0, 1))), dtype);
}
Tensor adjoint(const Tensor& a) { return conj(transpose(a, -2, -1)); }
Tensor hermitian(const Tensor& a) { return add(a, adjoint(a)); }

void check_close(const Tensor& x, const Tensor& y) {
  REQUIRE(sizes_of(x) == sizes_of(y));
  const bool single = to_real(x.dtype()) == DType::Float32;
  const auto parts = [](const Tensor& t) {
    return values_of(is_complex(t.dtype()) ? view_as_real(resolve_conj(t)) : t);
  };
  const std::vector<double> a = parts(x), b = parts(y);
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(single ? 2e-5 : 1e-12));
}
// Its columns.
void check_orthonormal(const Tensor& a) {
  const Tensor product = matmul(adjoint(a), a);
  check_close(product, expand_as(eye(a.size(-1), a.dtype()), product));
}
bool ascends(const Tensor& values) {
  const std::vector<double> v = values_of(values);
  const auto n = static_cast<size_t>(values.size(-1));
  for (size_t i = 0; i + n <= v.size(); i += n)
    if (!std::is_sorted(v.begin() + static_cast<long>(i), v.begin() + static_cast<long>(i + n)))
      return false;
  return true;
}

TEST_CASE(
    "U diag(S) Vh is the matrix, its factors orthonormal and its values in descending order") {
  const bool full = GENERATE(false, true);
  for (const DType dtype : kDTypes) {
    for (const Sizes& sizes :
         {Sizes{4, 4}, Sizes{2, 5, 3}, Sizes{2, 1, 3, 5}, Sizes{1, 1}, Sizes{40, 30}}) {
      const Tensor a = matrices(sizes, dtype);
      for (const Tensor& x : {a, contiguous(transpose(a, -2, -1))}) {
        CAPTURE(x.describe(), full);
        const auto [u, s, vh] = linalg_svd(x, full);
        const int64_t count = std::min(x.size(-2), x.size(-1));
        CHECK(u.size(-1) == (full ? x.size(-2) : count));
        CHECK(vh.size(-2) == (full ? x.size(-1) : count));
        CHECK(s.dtype() == to_real(dtype));
        check_close(
            matmul(mul(narrow(u, -1, 0, count), unsqueeze(s, -2)), narrow(vh, -2, 0, count)), x);
        check_orthonormal(u);
        check_orthonormal(adjoint(vh));
        CHECK(ascends(neg(s)));
        check_close(linalg_svdvals(x), s);
      }
    }
  }
}

TEST_CASE("factors have column-major matrices on every device, and V is a view of what Vh is") {
  for (const Device place : test::places()) {
    const Tensor a = tensor_of({2, 3, 5}, std::vector<double>(30, 1), DType::Float32, place);
    const auto [u, s, vh] = linalg_svd(a);
    CHECK(strides_of(u) == Sizes{9, 1, 3});
    CHECK(strides_of(s) == Sizes{3, 1});
    CHECK(strides_of(vh) == Sizes{25, 1, 5});
    const auto [u2, s2, v] = svd(a);
    CHECK(sizes_of(v) == Sizes{2, 5, 3});
    CHECK(strides_of(v) == Sizes{15, 3, 1});
    const auto [none, values, none_either] = _linalg_svd(a, false, /*compute_uv=*/false);
    CHECK(sizes_of(none) == Sizes{0});
    CHECK(sizes_of(values) == Sizes{2, 3});
    const auto [zero, values2, zeros] = svd(a, true, /*compute_uv=*/false);
    CHECK(sizes_of(zero) == Sizes{2, 3, 3});
    CHECK(sizes_of(zeros) == Sizes{2, 5, 5});
    CHECK(test::holds(zeros, std::vector<double>(50, 0)));

    const Tensor square = tensor_of({2, 3, 3}, std::vector<double>(18, 1), DType::Float32, place);
    const auto [h, hv] = linalg_eigh(square);
    CHECK(strides_of(h) == Sizes{3, 1});
    CHECK(strides_of(hv) == Sizes{9, 1, 3});
    const auto [e, ev] = linalg_eig(square);
    CHECK(e.dtype() == DType::Complex64);
    CHECK(strides_of(e) == Sizes{3, 1});
    CHECK(strides_of(ev) == Sizes{9, 1, 3});
    CHECK(linalg_eigvals(square).dtype() == DType::Complex64);
    CHECK(linalg_eigvalsh(square).dtype() == DType::Float32);
    CHECK(strides_of(linalg_pinv(a, 1e-5)) == Sizes{15, 3, 1});
    CHECK(linalg_matrix_rank(a, 1e-5).dtype() == DType::Int64);
  }
}

TEST_CASE("matrices without elements have factors, of which the square ones are identities") {
  const auto [u, s, vh] = linalg_svd(matrices({2, 0, 3}));
  CHECK(sizes_of(u) == Sizes{2, 0, 0});
  CHECK(sizes_of(s) == Sizes{2, 0});
  check_close(vh, expand(eye(3, DType::Float64), {2, 3, 3}));
  CHECK(sizes_of(std::get<1>(linalg_eigh(matrices({2, 0, 0})))) == Sizes{2, 0, 0});
  CHECK(sizes_of(std::get<1>(linalg_eig(matrices({0, 3, 3})))) == Sizes{0, 3, 3});
  CHECK(sizes_of(linalg_pinv(matrices({2, 0, 3}), 0.1)) == Sizes{2, 3, 0});
  CHECK(values_of(linalg_matrix_rank(matrices({2, 0, 3}), 0.1)) == std::vector<double>{0, 0});
}

TEST_CASE("V diag(values) V^H is the Hermitian matrix of either triangle") {
  for (const DType dtype : kDTypes) {
    for (const Sizes& sizes : {Sizes{4, 4}, Sizes{2, 3, 3}, Sizes{1, 1}, Sizes{40, 40}}) {
      const Tensor a = hermitian(matrices(sizes, dtype));
      CAPTURE(a.describe());
      for (const char* const triangle : {"L", "u"}) {
        const bool lower = *triangle == 'L';
        const auto [values, vectors] = linalg_eigh(lower ? tril(a) : triu(a), triangle);
        CHECK(values.dtype() == to_real(dtype));
        CHECK(ascends(values));
        check_close(matmul(mul(vectors, unsqueeze(values, -2)), adjoint(vectors)), a);
        check_orthonormal(vectors);
        check_close(linalg_eigvalsh(lower ? tril(a) : triu(a), triangle), values);
      }
    }
  }
}

TEST_CASE("eigenvectors of any matrix are stretched by its eigenvalues, and have norm 1") {
  for (const DType dtype : kDTypes) {
    for (const Sizes& sizes : {Sizes{4, 4}, Sizes{2, 1, 3, 3}, Sizes{1, 1}, Sizes{20, 20}}) {
      const Tensor a = matrices(sizes, dtype);
      CAPTURE(a.describe());
      const auto [values, vectors] = linalg_eig(a);
      check_close(matmul(to_dtype(a, vectors.dtype()), vectors),
                  mul(vectors, unsqueeze(values, -2)));
      const Tensor lengths = diagonal(matmul(adjoint(vectors), vectors), 0, -2, -1);
      check_close(lengths, expand_as(tensor_of({1}, {1}, lengths.dtype()), lengths));
      CHECK(sizes_of(linalg_eigvals(a)) == sizes_of(values));
      check_close(sum_dim(linalg_eigvals(a), {-1}), sum_dim(values, {-1}));
    }
  }
}

TEST_CASE("the pseudoinverse fulfils Penrose's four equations, for matrices of any rank") {
  const Tensor thin = matrices({2, 5, 3}), low = matmul(matrices({4, 2}), matrices({2, 5}));
  for (const Tensor& a : {thin, transpose(thin, 1, 2), low, matrices({3, 3}, DType::Complex128)}) {
    CAPTURE(a.describe());
    const Tensor p = linalg_pinv(a, 1e-12);
    check_close(matmul(matmul(a, p), a), a);
    check_close(matmul(matmul(p, a), p), p);
    check_close(adjoint(matmul(a, p)), matmul(a, p));
    check_close(adjoint(matmul(p, a)), matmul(p, a));
  }
  const Tensor symmetric = hermitian(matrices({2, 3, 3}, DType::Complex128));
  check_close(linalg_pinv(tril(symmetric), 1e-12, /*hermitian=*/true),
              linalg_pinv(symmetric, 1e-12));
}

TEST_CASE("singular values up to a tolerance count as 0: absolute, or relative to the largest") {
  const auto number = [](double x) { return tensor_of({}, {x}, DType::Float64); };
  const Tensor a = tensor_of({3, 3}, {4, 0, 0, 0, 1e-3, 0, 0, 0, 1e-9});
  const auto rank = [&](std::optional<double> atol, std::optional<double> rtol) {
    const double by_number = values_of(linalg_matrix_rank_atol_rtol_float(a, atol, rtol))[0];
    const auto as_tensor = [&](std::optional<double> x) {
      return x ? std::optional<Tensor>(number(*x)) : std::nullopt;
    };
    CHECK(values_of(linalg_matrix_rank_atol_rtol_tensor(a, as_tensor(atol), as_tensor(rtol)))[0] ==
          by_number);
    const Tensor p = linalg_pinv_atol_rtol_float(a, atol, rtol);
    CHECK(values_of(linalg_matrix_rank_atol_rtol_float(p, 0., 0.))[0] == by_number);
    return by_number;
  };
  CHECK(rank(std::nullopt, std::nullopt) == 2);  // epsilon times 3 times 4 is greater than 1e-9
  CHECK(rank(1e-2, std::nullopt) == 1);
  CHECK(rank(1e-10, std::nullopt) == 3);  // an atol above 0 goes without rtol
  CHECK(rank(0., std::nullopt) == 2);
  CHECK(rank(std::nullopt, 1e-3) == 1);
  CHECK(rank(1e-10, 1e-4) == 2);
  CHECK(values_of(linalg_matrix_rank(a, 1e-2))[0] == 1);
  // A batch of tolerances makes a batch.
  const Tensor tolerances = tensor_of({3, 1}, {1e-10, 1e-2, 5});
  CHECK(values_of(linalg_matrix_rank_tol_tensor(a, squeeze_dim(tolerances, -1))) ==
        std::vector<double>{3, 1, 0});
}

TEST_CASE("least squares are those of the pseudoinverse, for matrices of any shape and rank") {
  const Tensor low = matmul(matrices({4, 2}), matrices({2, 5}));
  for (const DType dtype : {DType::Float64, DType::Complex128}) {
    for (const Tensor& real_one : {matrices({2, 5, 3}), matrices({3, 5}), low}) {
      const Tensor a = to_dtype(real_one, dtype);
      Sizes sizes = sizes_of(a);
      sizes.back() = 2;
      const Tensor b = matrices(sizes, dtype);
      for (const char* const driver : {"gelsy", "gelsd", "gelss"}) {
        const auto [x, residuals, rank, values] = linalg_lstsq(a, b, std::nullopt, driver);
        check_close(x, matmul(linalg_pinv_atol_rtol_float(a), b));
        check_close(matmul(adjoint(a), sub(matmul(a, x), b)), mul_Scalar(matmul(adjoint(a), b), 0));
      }
    }
  }
}

TEST_CASE("the driver of least squares says what is wanted besides") {
  const Tensor a = matrices({2, 5, 3}), b = matrices({2, 5, 4});
  const auto sizes = [&](const Tensor& of, const Tensor& right, const char* driver) {
    const auto [x, residuals, rank, values] = linalg_lstsq(of, right, std::nullopt, driver);
    return std::vector<Sizes>{sizes_of(x), sizes_of(residuals), sizes_of(rank), sizes_of(values)};
  };
  CHECK(sizes(a, b, "gelsy") == std::vector<Sizes>{{2, 3, 4}, {0}, {2}, {0}});
  CHECK(sizes(a, b, "gels") == std::vector<Sizes>{{2, 3, 4}, {2, 4}, {0}, {0}});
  CHECK(sizes(a, b, "gelsd") == std::vector<Sizes>{{2, 3, 4}, {2, 4}, {2}, {2, 3}});
  CHECK(sizes(transpose(a, 1, 2), narrow(b, 1, 0, 3), "gelss") ==
        std::vector<Sizes>{{2, 5, 4}, {0}, {2}, {2, 3}});
  const Tensor vectors = matrices({2, 5});
  CHECK(sizes(a, vectors, "gels") == std::vector<Sizes>{{2, 3}, {2, 1}, {0}, {0}});
  // Of less than full rank, nothing is said about residuals.
  const Tensor ones = tensor_of({5, 3}, std::vector<double>(15, 1));
  CHECK(sizes(ones, tensor_of({5, 1}, {1, 2, 3, 4, 5}), "gelsd") ==
        std::vector<Sizes>{{3, 1}, {0}, {}, {3}});
  CHECK(strides_of(std::get<0>(linalg_lstsq(a, b))) == Sizes{20, 1, 5});

  const Tensor x = std::get<0>(linalg_lstsq(a, b));
  const Tensor left = sub(matmul(a, x), b);
  check_close(std::get<1>(linalg_lstsq(a, b, std::nullopt, "gelsd")),
              sum_dim(mul(left, left), {-2}));
  CHECK_THROWS_WITH(
      linalg_lstsq(a, b, std::nullopt, "x"),
      Catch::Contains("linalg_lstsq: driver: expected gels, gelsy, gelsd or gelss, got x"));
  CHECK_THROWS_WITH(linalg_lstsq(a, transpose(b, 1, 2)),
                    Catch::Contains("linalg_lstsq: b: expected 5 rows"));
}

TEST_CASE("NaN and infinities are errors that name the element of the batch") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Tensor one = tensor_of({2, 2}, {1, 0, bad, 1});
    const Tensor two = tensor_of({2, 2, 2}, {1, 0, 0, 1, 1, 0, bad, 1});
    CHECK_THROWS_WITH(
        linalg_svd(one),
        Catch::Contains("linalg.svd: the algorithm failed to converge because the input matrix "
                        "contained non-finite values"));
    CHECK_THROWS_WITH(linalg_svdvals(two),
                      Catch::Contains("linalg.svd: (batch element 1) the algorithm failed"));
    CHECK_THROWS_WITH(linalg_eigh(two),
                      Catch::Contains("linalg.eigh: (batch element 1) the algorithm failed"));
    CHECK_THROWS_WITH(linalg_eig(one), Catch::Contains("linalg.eig: the algorithm failed"));
    CHECK_THROWS_WITH(linalg_eigvals(one), Catch::Contains("linalg.eig: the algorithm failed"));
  }
}

TEST_CASE("what cannot be decomposed is refused, with and without data") {
  for (const Device place : test::places()) {
    const auto of = [&](const Sizes& sizes, DType dtype = DType::Float32) {
      return tensor_of(
          sizes,
          std::vector<double>(
              static_cast<size_t>(sizes.size() == 1 ? sizes[0] : sizes[0] * sizes[1]), 1.),
          dtype, place);
    };
    CHECK_THROWS_WITH(linalg_svd(of({3})),
                      Catch::Contains("linalg_svd: expected at least 2 dimensions"));
    CHECK_THROWS_WITH(linalg_svd(of({3, 3}, DType::Int64)),
                      Catch::Contains("expected float32, float64 or complex"));
    CHECK_THROWS_WITH(linalg_svd(of({3, 3}), true, "gesvd"),
                      Catch::Contains("driver: expected none on CPU, got gesvd"));
    CHECK_THROWS_WITH(linalg_eigh(of({2, 3})),
                      Catch::Contains("linalg_eigh: expected square matrices"));
    CHECK_THROWS_WITH(linalg_eigh(of({2, 2}), "X"),
                      Catch::Contains("UPLO: expected 'L' or 'U', got 'X'"));
    CHECK_THROWS_WITH(linalg_eig(of({2, 3})),
                      Catch::Contains("linalg_eig: expected square matrices"));
    CHECK_THROWS_WITH(linalg_eigvals(of({2, 3})),
                      Catch::Contains("linalg_eigvals: expected square matrices"));
    CHECK_THROWS_WITH(linalg_pinv(of({3}), 0.1),
                      Catch::Contains("linalg_pinv: expected at least 2 dimensions"));
    CHECK_THROWS_WITH(linalg_matrix_rank(of({3}), 0.1),
                      Catch::Contains("linalg_matrix_rank: input: expected at least 2"));
    CHECK_THROWS_WITH(linalg_pinv_rcond_tensor(of({3, 3}), of({1, 1}, DType::Complex64)),
                      Catch::Contains("linalg_pinv: rtol: expected a tensor that is not complex"));
  }
}

TEST_CASE("results have the same bits at any number of threads") {
  const Tensor a = matrices({7, 20, 20}, DType::Float32);
  const int before = get_num_threads();
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    std::vector<double> all = values_of(linalg_pinv(a, 1e-6));
    for (const Tensor& t : {std::get<0>(linalg_svd(a)), std::get<1>(linalg_eigh(a)),
                            view_as_real(std::get<1>(linalg_eig(a)))}) {
      const std::vector<double> values = values_of(t);
      all.insert(all.end(), values.begin(), values.end());
    }
    results.push_back(all);
  }
  set_num_threads(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

}  // namespace
}  // namespace sb
