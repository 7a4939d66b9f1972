#include <cmath>
#include <complex>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/statistics/covariance.h"
#include "switchboard/ops/statistics/norm.h"
#include "switchboard/ops/statistics/summaries.h"
#include "switchboard/ops/statistics/variance.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::tensor_of;
using test::values_of;

Tensor filled(IntArrayRef sizes, double (*f)(int64_t), DType dtype = DType::Float32) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float64);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<double>()[i] = f(i);
  return cast_copy(x, dtype);
}
double number(const Tensor& x) { return item(x).to<double>(); }

TEST_CASE("a large mean does not swallow the variance, along either dimension") {
  const Tensor x = filled({3000, 8}, [](int64_t i) { return 1e6 + static_cast<double>(i % 2); });
  CHECK(number(var_correction(x, {}, 0)) == 0.25);
  CHECK(number(var_correction(x, {}, 0.5)) == Approx(0.25 * 24000 / 23999.5).epsilon(1e-7));
  const Tensor y = filled({8, 3000}, [](int64_t i) { return 1e6 + static_cast<double>(i % 2); });
  for (double v : values_of(var_correction(y, {1}, 0))) CHECK(v == 0.25);
  const Tensor z = filled({3000, 9}, [](int64_t i) { return 1e6 + static_cast<double>(i % 2); });
  for (double v : values_of(var_correction(z, {0}, 0))) CHECK(v == Approx(0.25).epsilon(1e-7));
}

TEST_CASE("equal elements have a deviation of exactly 0, whatever their sum rounds to") {
  const Tensor x = filled(
      {6, 2500}, [](int64_t) { return 2.867; }, DType::Float64);
  CHECK(number(std_all(x)) == 0);
  for (const int64_t d : {0, 1})
    for (double v : values_of(var_correction(x, {d}, 0))) CHECK(v == 0);
}

TEST_CASE("the variance of fewer elements than the correction is infinite, of none NaN") {
  const Tensor x = tensor_of({2}, {1, 3});
  CHECK(std::isinf(number(var_correction(x, {}, 5))));
  CHECK(std::isnan(number(var_all(tensor_of({1}, {1})))));
  CHECK(std::isnan(number(std_all(tensor_of({0}, {})))));
}

TEST_CASE("norms of numbers whose squares leave float32 are right") {
  for (const double scale : {1e30, 1e-30}) {
    const Tensor x = tensor_of({2}, {3 * scale, 4 * scale});
    CHECK(number(linalg_vector_norm(x)) == Approx(5 * scale).epsilon(1e-6));
    CHECK(number(norm_Scalar(x, 3)) == Approx(std::cbrt(91.0) * scale).epsilon(1e-6));
  }
}

TEST_CASE("norms of every order agree with their definition") {
  const Tensor x = filled({4, 200}, [](int64_t i) { return static_cast<double>(i % 7) - 3; });
  const std::vector<double> values = values_of(x);
  for (const double p : {0.5, 1.0, 2.0, 3.0}) {
    double expected = 0;
    for (double v : values) expected += std::pow(std::abs(v), p);
    CHECK(number(linalg_vector_norm(x, p)) == Approx(std::pow(expected, 1 / p)).epsilon(1e-6));
  }
  CHECK(number(linalg_vector_norm(x, INFINITY)) == 3);
  CHECK(number(linalg_vector_norm(x, -INFINITY)) == 0);
  CHECK(number(linalg_vector_norm(x, 0)) == number(cast_copy(count_nonzero(x), DType::Float32)));
}

TEST_CASE("of nothing, a norm is 0 or, where there is no answer, refused") {
  const Tensor nothing = tensor_of({2, 0}, {});
  CHECK_THROWS_AS(norm_Scalar(nothing, -INFINITY), RuntimeError);
  CHECK(number(norm_Scalar(nothing, 2)) == 0);
  CHECK(number(linalg_vector_norm(nothing)) == 0);
  CHECK_THROWS_AS(linalg_vector_norm(nothing, INFINITY), RuntimeError);
  CHECK_THROWS_AS(linalg_vector_norm(nothing, -1, {1}), RuntimeError);
  CHECK(linalg_vector_norm(nothing, -1, {0}).numel() == 0);
}

TEST_CASE("the order of a norm is a float, as in PyTorch") {
  const Tensor x = tensor_of({3}, {3, 4, 0.5}, DType::Float64);
  CHECK(number(linalg_vector_norm(x, 2.1)) == Approx(4.942233944657043).epsilon(1e-12));
  CHECK(number(norm_Scalar(x, 2.1)) == Approx(4.942233944657043).epsilon(1e-12));
}

TEST_CASE("no norm takes a complex order, of nothing neither") {
  const Scalar order = std::complex<double>(1.5, 0);
  for (const Tensor& x : {tensor_of({2}, {3, 4}), tensor_of({0}, {})}) {
    CHECK_THROWS_AS(norm_Scalar(x, order), RuntimeError);
    CHECK_THROWS_AS(linalg_vector_norm(x, order), RuntimeError);
  }
}

TEST_CASE("a norm of a dtype neither narrows, nor takes integers, nor changes real for complex") {
  const Tensor x = tensor_of({2}, {3, 4});
  CHECK(number(norm_ScalarOpt_dtype(x, 2, DType::Float64)) == 5);
  CHECK_THROWS_AS(norm_ScalarOpt_dtype(x, 2, DType::Float16), RuntimeError);
  CHECK_THROWS_AS(norm_ScalarOpt_dtype(x, 2, DType::Complex64), RuntimeError);
  CHECK_THROWS_AS(norm_ScalarOpt_dtype(cast_copy(x, DType::Int64), 2, DType::Float64),
                  RuntimeError);
  CHECK_THROWS_AS(norm_dim_out(x, 2, {0}, false, tensor_of({}, {0}, DType::Float64)), RuntimeError);
}

TEST_CASE("a sum of powers is taken in the dtype that is asked for, which is no integer") {
  const OperatorHandle powsum = default_dispatcher().find_op_or_throw("aten::linalg__powsum");
  const auto sum = [&](const Tensor& x, DType dtype) {
    return powsum.call({x, 2}, {{"dtype", dtype}})[0].to_tensor();
  };
  CHECK(number(sum(tensor_of({2}, {2, 3}, DType::Int64), DType::Float32)) == 13);
  const Tensor z = cast_copy(tensor_of({1}, {1}), DType::Complex64);
  z.data<std::complex<float>>()[0] = {1, 1};
  CHECK(number(sum(z, DType::Float64)) == 1);  // of the real part
  CHECK(number(sum(z, DType::Complex128)) == Approx(2));
  CHECK_THROWS_AS(sum(tensor_of({2}, {2, 3}), DType::Int64), NotImplementedError);
  CHECK_THROWS_AS(sum(z, DType::Bool), NotImplementedError);
}

TEST_CASE("a variance goes to an out that its dtype can be cast to") {
  const Tensor x = tensor_of({2, 2}, {1, 3, 5, 9});
  CHECK_THROWS_AS(var_correction_out(x, {}, 0, false, tensor_of({}, {0}, DType::Int32)),
                  RuntimeError);
  const Tensor out = tensor_of({}, {0}, DType::Float64);
  CHECK(number(var_correction_out(x, {}, 0, false, out)) == 8.75);
}

TEST_CASE("logsumexp takes complex numbers, and writes to complex outs") {
  const Tensor x = cast_copy(tensor_of({2}, {1000, 1000}), DType::Complex64);
  const std::complex<double> sum = item(logsumexp(x, {0})).to<std::complex<double>>();
  CHECK(sum.real() == Approx(1000 + std::log(2.0)));
  const Tensor out = empty_on(DeviceType::CPU, {}, DType::Complex128);
  logsumexp_out(tensor_of({2}, {0, 0}), {0}, false, out);
  CHECK(item(out).to<std::complex<double>>().real() == Approx(std::log(2.0)));
}

TEST_CASE("logsumexp neither overflows nor loses what is far below") {
  CHECK(number(logsumexp(tensor_of({3}, {1000, 1000, -1000}), {0})) ==
        Approx(1000 + std::log(2.0)));
  CHECK(number(logsumexp(tensor_of({2}, {INFINITY, 1}), {0})) == INFINITY);
  CHECK(number(logsumexp(tensor_of({2}, {-INFINITY, -INFINITY}), {0})) == -INFINITY);
  CHECK(std::isnan(number(logsumexp(tensor_of({2}, {NAN, INFINITY}), {0}))));
  const Tensor falling = filled({5000}, [](int64_t i) { return static_cast<double>(-i); });
  CHECK(number(logsumexp(falling, {0})) == Approx(std::log(1 / (1 - std::exp(-1.0)))));
}

TEST_CASE("what varies together has correlation 1, what varies against it -1") {
  const Tensor x = tensor_of({3, 4}, {1, 2, 3, 4, 2, 4, 6, 8, 4, 3, 2, 1});
  const std::vector<double> r = values_of(corrcoef(x));
  for (size_t i = 0; i < r.size(); ++i) {
    CHECK(r[i] == Approx(i / 3 == 2 || i % 3 == 2 ? (i == 8 ? 1 : -1) : 1));
    CHECK(std::abs(r[i]) <= 1);
  }
  CHECK_THROWS_AS(cov(x, 1, tensor_of({4}, {1, 1, -1, 1}, DType::Int64)), RuntimeError);
}

}  // namespace
}  // namespace sb
