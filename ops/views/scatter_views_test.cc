#include "switchboard/ops/views/scatter_views.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Generators::from_range;
using test::holds;
using test::places;
using test::sizes_of;
using test::strides_of;
using test::tensor_of;

TEST_CASE("a scatter is a new tensor: self with src where the view would be") {
  const Device place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6}, DType::Float32, place);
  const Tensor column = tensor_of({2}, {-1, -2}, DType::Float32, place);
  CHECK(holds(select_scatter(x, column, 1, 1), {1, -1, 3, 4, -2, 6}));
  CHECK(holds(select_scatter(x, column, -1, -1), {1, 2, -1, 4, 5, -2}));
  const Tensor part = tensor_of({2, 2}, {-1, -2, -3, -4}, DType::Float32, place);
  CHECK(holds(slice_scatter(x, part, 1, 0, std::nullopt, 2), {-1, 2, -2, -3, 5, -4}));
  CHECK(holds(slice_scatter(x, part, 1, -2), {1, -1, -2, 4, -3, -4}));
  CHECK(holds(as_strided_scatter(x, column, {2}, {2}, 1), {1, -1, 3, -2, 5, 6}));
  CHECK(holds(x, {1, 2, 3, 4, 5, 6}));
}

TEST_CASE("a scatter keeps the dtype of self, and its strides, gaps and all") {
  const Device place = GENERATE(from_range(places()));
  const Tensor x = t(tensor_of({2, 3}, {1, 2, 3, 4, 5, 6}, DType::Int32, place));
  const Tensor y = select_scatter(x, tensor_of({2}, {7.9, 8.1}, DType::Float64, place), 0, 0);
  CHECK(y.dtype() == DType::Int32);
  CHECK(strides_of(y) == strides_of(x));
  CHECK(holds(y, {7, 8, 2, 5, 3, 6}));
  const Tensor gaps = slice(x, 0, 0, 3, 2);
  CHECK(strides_of(slice_scatter(gaps, gaps, 0)) == strides_of(gaps));
  // One that is to be written to has no elements that share memory.
  const Tensor row = expand(tensor_of({1, 3}, {1, 2, 3}, DType::Int32, place), {2, 3});
  CHECK(strides_of(slice_scatter(row, row, 0)) == test::Sizes{3, 1});
}

TEST_CASE("an offset counts from where the storage of self starts") {
  const Device place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}, DType::Float32, place);
  const Tensor src = tensor_of({2}, {8, 9}, DType::Float32, place);
  const Tensor rows = slice(x, 0, 1);
  CHECK(holds(as_strided_scatter(rows, src, {2}, {2}, 3), {3, 8, 5, 9}));
  CHECK(as_strided_scatter(rows, src, {2}, {2}, 3).storage_offset() == 2);
}

TEST_CASE("a scatter refuses a src of another shape than the view, and what the view refuses") {
  const Device place = GENERATE(from_range(places()));
  const Tensor x = zeros({2, 3}, DType::Float32, std::nullopt, place);
  const Tensor src = zeros({2}, DType::Float32, std::nullopt, place);
  CHECK_THROWS_WITH(select_scatter(x, src, 0, 0),
                    "select_scatter: argument src: expected the shape of the view, [3], got [2]");
  CHECK_THROWS_AS(select_scatter(x, src, 0, 2), IndexError);
  CHECK_THROWS_AS(select_scatter(x, src, 2, 0), IndexError);
  CHECK_THROWS_AS(slice_scatter(x, src), RuntimeError);
  CHECK_THROWS_AS(slice_scatter(x, x, 0, 0, 2, 0), RuntimeError);
  CHECK_THROWS_AS(as_strided_scatter(x, src, {2}, {9}), RuntimeError);
  CHECK_THROWS_AS(as_strided_scatter(Tensor(), src, {2}, {1}), RuntimeError);
}

TEST_CASE("copy, fill and zero give what copy_, fill_ and zero_ would leave") {
  const Device place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4}, DType::Int64, place);
  const Tensor row = tensor_of({2}, {5.5, 6.5}, DType::Float32, place);
  const Tensor y = copy(x, row);
  CHECK(y.dtype() == DType::Int64);
  CHECK(holds(y, {5, 6, 5, 6}));
  CHECK_FALSE(copy(x, x).is_alias_of(x));
  CHECK_THROWS_AS(copy(row, x), RuntimeError);
  CHECK(holds(fill(x, 9), {9, 9, 9, 9}));
  CHECK(holds(fill_Tensor(x, tensor_of({}, {8}, DType::Float32, place)), {8, 8, 8, 8}));
  CHECK_THROWS_AS(fill_Tensor(x, row), RuntimeError);
  CHECK(holds(zero(x), {0, 0, 0, 0}));
  CHECK(holds(x, {1, 2, 3, 4}));
}

TEST_CASE("scatters and copies have out= forms") {
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4});
  const Tensor out = empty({0});
  select_scatter_out(x, tensor_of({2}, {8, 9}), 0, 1, out);
  CHECK(holds(out, {1, 2, 8, 9}));
  slice_scatter_out(x, tensor_of({1, 2}, {8, 9}), 0, 0, 1, 1, out);
  CHECK(holds(out, {8, 9, 3, 4}));
  as_strided_scatter_out(x, tensor_of({2}, {8, 9}), {2}, {3}, 0, out);
  CHECK(holds(out, {8, 2, 3, 9}));
  copy_out(x, tensor_of({2}, {8, 9}), false, out);
  CHECK(holds(out, {8, 9, 8, 9}));
  fill_out(x, 3, out);
  CHECK(holds(out, {3, 3, 3, 3}));
  zero_out(x, out);
  CHECK(holds(out, {0, 0, 0, 0}));
}

TEST_CASE("copy has the strides and the device of self, whatever those of src") {
  const Tensor self = t(tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}));
  const Tensor src = tensor_of({2, 3}, {6, 5, 4, 3, 2, 1});
  const Tensor result = copy(self, src);
  CHECK(strides_of(result) == strides_of(self));
  CHECK(holds(result, {6, 5, 4, 3, 2, 1}));
  const Tensor there = zeros({2, 3}, DType::Float32, std::nullopt, Device(DeviceType::Meta));
  CHECK(copy(there, src).device() == there.device());
}

}  // namespace
}  // namespace sb
