#include "switchboard/ops/arithmetic/arithmetic.h"

#include <cmath>
#include <complex>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::holds;
using test::places;
using test::Sizes;
using test::sizes_of;
using test::strides_of;
using test::tensor_of;
using test::values_of;

TEST_CASE("add broadcasts, and scales the second operand by alpha", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2, 1}, {1, 2}, DType::Float32, place);
  const Tensor y = tensor_of({3}, {10, 20, 30}, DType::Float32, place);
  const Tensor z = add(x, y, 2);
  CHECK(sizes_of(z) == Sizes{2, 3});
  CHECK(z.device() == place);
  CHECK(holds(z, {21, 41, 61, 22, 42, 62}));
}

TEST_CASE("operands are converted to their common dtype", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor i = tensor_of({2}, {1, 2}, DType::Int32, place);
  const Tensor f = tensor_of({2}, {0.5, 0.5}, DType::Float64, place);
  CHECK((i + f).dtype() == DType::Float64);
  CHECK(holds(i + f, {1.5, 2.5}));
  CHECK((i + 1).dtype() == DType::Int32);
  CHECK((i + 0.5).dtype() == DType::Float32);
  CHECK((i / i).dtype() == DType::Float32);
  const Tensor h = tensor_of({2}, {1, 2}, DType::Float16, place);
  CHECK((h * 3).dtype() == DType::Float16);
  CHECK(holds(h * 3, {3, 6}));
  CHECK(holds(1 - h, {0, -1}));
}

TEST_CASE("the result keeps the order of the operands' strides", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = empty_strided_on(place, {2, 3}, {1, 2}, DType::Float32);
  CHECK(strides_of(x + x) == Sizes{1, 2});
  CHECK(strides_of(x + tensor_of({3}, {}, DType::Float32, place)) == Sizes{1, 2});
}

TEST_CASE("in-place arithmetic writes to self and returns it", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3}, {1, 2, 3}, DType::Float32, place);
  CHECK(mul_(x, x).is_same(x));
  CHECK(holds(x, {1, 4, 9}));
  x -= 1;
  CHECK(holds(x, {0, 3, 8}));
}

TEST_CASE("out= is resized, and converted to", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4}, DType::Float32, place);
  const Tensor out = tensor_of({0}, {}, DType::Float64, place);
  CHECK(add_out(x, x, 1, out).is_same(out));
  CHECK(sizes_of(out) == Sizes{2, 2});
  CHECK(holds(out, {2, 4, 6, 8}));
}

TEST_CASE("a refused call leaves its arguments as they were", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3}, {1, 2, 3}, DType::Float32, place);
  const Tensor y = tensor_of({2}, {1, 2}, DType::Float32, place);
  const Tensor integers = tensor_of({0}, {}, DType::Int64, place);
  CHECK_THROWS_AS(add(x, y), RuntimeError);
  CHECK_THROWS_AS(add_out(x, y, 1, integers), RuntimeError);
  CHECK_THROWS_WITH(add_out(x, x, 1, integers), Catch::Contains("can't be cast"));
  CHECK(sizes_of(integers) == Sizes{0});
  CHECK_THROWS_AS(add_(y, tensor_of({2, 2}, {}, DType::Float32, place)), RuntimeError);
  CHECK_THROWS_AS(add(x, Tensor()), RuntimeError);
  CHECK_THROWS_AS(add_out(x, x, 1, Tensor()), RuntimeError);
  CHECK_THROWS_AS(div_Tensor_mode(x, x, "down"), RuntimeError);
  const Tensor i = tensor_of({1}, {1}, DType::Int64, place);
  CHECK_THROWS_WITH(add(i, i, 1.5), Catch::Contains("alpha"));
  CHECK_THROWS_WITH(add(x, x, true), Catch::Contains("alpha"));
  CHECK(holds(x, {1, 2, 3}));
}

TEST_CASE("an output may not overlap itself, nor an input in part", "[ops][arithmetic]") {
  auto place = GENERATE(from_range(places()));
  const Tensor base = tensor_of({4}, {1, 2, 3, 4}, DType::Float32, place);
  const Tensor left = alias_with(base, {3}, {1}, 0), right = alias_with(base, {3}, {1}, 1);
  CHECK_THROWS_AS(add_(left, right), RuntimeError);
  CHECK_THROWS_AS(add_out(left, left, 1, right), RuntimeError);
  const Tensor expanded = alias_with(base, {3}, {0}, 0);
  CHECK_THROWS_AS(add_(expanded, left), RuntimeError);
  CHECK(holds(base, {1, 2, 3, 4}));
  // The same elements are fine.
  add_out(left, left, 1, alias_with(base, {3}, {1}, 0));
  CHECK(holds(base, {2, 4, 6, 4}));
}

TEST_CASE("tensors of two devices do not mix, numbers aside", "[ops][arithmetic]") {
  const Tensor cpu = tensor_of({2}, {1, 2}), meta = empty_on(DeviceType::Meta, {2}, DType::Float32);
  CHECK_THROWS_WITH(add(cpu, meta), Catch::Contains("cpu") && Catch::Contains("meta"));
  CHECK_THROWS_AS(add_out(meta, meta, 1, cpu), RuntimeError);
  CHECK(add(meta, tensor_of({}, {1})).is_meta());
}

TEST_CASE("integer overflow wraps", "[ops][arithmetic]") {
  const double low = -2147483648.0, high = 2147483647.0;
  const Tensor x = tensor_of({2}, {high, low}, DType::Int32);
  CHECK(holds(x + 1, {low, low + 1}));
  CHECK(holds(x * x, {1, 0}));
  CHECK(holds(-x, {-high, low}));
  CHECK(holds(abs(x), {high, low}));
  const Tensor s = tensor_of({1}, {-32768}, DType::Int16);
  CHECK(holds(s * s, {0}));
  CHECK(holds(add(s, s, 32767), {0}));
  CHECK(holds(div_Tensor_mode(x, tensor_of({}, {-1}, DType::Int32), "trunc"), {-high, low}));
}

TEST_CASE("integer division by zero is an error before anything is written", "[ops][arithmetic]") {
  const Tensor x = tensor_of({3}, {7, 8, 9}, DType::Int64);
  const Tensor y = tensor_of({3}, {2, 0, 2}, DType::Int64);
  CHECK_THROWS_WITH(div_Tensor_mode_(x, y, "floor"), Catch::Contains("ZeroDivisionError"));
  CHECK(holds(x, {7, 8, 9}));
  // 256 is 0 in uint8.
  CHECK_THROWS_AS(div_Scalar_mode(tensor_of({1}, {1}, DType::UInt8), 256, "trunc"), RuntimeError);
}

TEST_CASE("rounding modes differ below zero", "[ops][arithmetic]") {
  const Tensor x = tensor_of({4}, {7, -7, 7, -7}, DType::Int32);
  const Tensor y = tensor_of({4}, {2, 2, -2, -2}, DType::Int32);
  CHECK(holds(div_Tensor_mode(x, y, "trunc"), {3, -3, -3, 3}));
  CHECK(holds(div_Tensor_mode(x, y, "floor"), {3, -4, -4, 3}));
  CHECK(holds(div_Tensor_mode(x, y, std::nullopt), {3.5, -3.5, -3.5, 3.5}));
}

TEST_CASE("elements with gaps, of other dtypes and in great number come out right",
          "[ops][arithmetic]") {
  std::vector<double> numbers, expected;
  for (int i = 0; i < 4000; ++i) numbers.push_back(i);
  const Tensor base = tensor_of({4000}, numbers, DType::Int32);
  const Tensor odd = alias_with(base, {40, 50}, {100, 2}, 1);
  const Tensor turned = alias_with(base, {40, 50}, {1, 80}, 0);
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 50; ++j) expected.push_back(100 * i + 2 * j + 1 + (i + 80 * j) * 0.5);
  }
  CHECK(values_of(add(odd, turned * 0.5)) == expected);
}

TEST_CASE("the negative of 0 is -0, in long tensors too") {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16}) {
    for (const double v : values_of(neg(zeros({33}, dtype)))) CHECK(std::signbit(v));
  }
  const Tensor complex = neg(zeros({33}, DType::Complex128));
  for (int64_t i = 0; i < 33; ++i) {
    const std::complex<double> z = complex.data<std::complex<double>>()[i];
    CHECK((std::signbit(z.real()) && std::signbit(z.imag())));
  }
}

}  // namespace
}  // namespace sb
