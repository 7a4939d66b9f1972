#include "switchboard/ops/factories/factories.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::holds;
using test::places;
using test::Sizes;
using test::sizes_of;
using test::strides_of;
using test::tensor_of;

TEST_CASE("the device argument picks the place", "[ops][factories]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = zeros({2, 3}, DType::Float64, std::nullopt, place);
  CHECK(x.device() == place);
  CHECK(x.dtype() == DType::Float64);
  CHECK(holds(x, {0, 0, 0, 0, 0, 0}));
  CHECK(empty({2}).is_cpu());
  CHECK_THROWS_AS(empty({2}, std::nullopt, std::nullopt, Device(DeviceType::CUDA)),
                  NotImplementedError);
}

TEST_CASE("full takes the dtype of its number", "[ops][factories]") {
  CHECK(full({1}, true).dtype() == DType::Bool);
  CHECK(full({1}, 2).dtype() == DType::Int64);
  CHECK(full({1}, 2.5).dtype() == DType::Float32);
  CHECK(full({1}, 2, TensorOptions(DType::Float32)).dtype() == DType::Float32);
}

TEST_CASE("factories refuse sizes that make no sense", "[ops][factories]") {
  auto place = GENERATE(from_range(places()));
  const auto make = [&](std::vector<int64_t> sizes) {
    return empty(sizes, std::nullopt, std::nullopt, place);
  };
  const int64_t huge = std::numeric_limits<int64_t>::max();
  CHECK_THROWS_AS(make({-1}), RuntimeError);
  CHECK_THROWS_AS(make({huge, huge}), RuntimeError);
  CHECK_THROWS_AS(make({huge / 2}), RuntimeError);
  CHECK_THROWS_AS(make({0, huge, huge}), RuntimeError);
  CHECK_THROWS_AS(empty_strided({2}, {1, 1}), RuntimeError);
  CHECK_THROWS_AS(empty_strided({2}, {-1}), RuntimeError);
  CHECK_THROWS_AS(empty_strided({3, 3}, {huge, 1}), RuntimeError);
  const Tensor out = empty({2});
  CHECK_THROWS_AS(full_out({3}, 1e300, out), RuntimeError);
  CHECK_THROWS_AS(zeros_out({-3}, out), RuntimeError);
  CHECK(sizes_of(out) == Sizes{2});
}

TEST_CASE("factories refuse what a tensor here cannot be", "[ops][factories]") {
  CHECK_THROWS_AS(empty({2}, std::nullopt, Layout::Sparse), NotImplementedError);
  CHECK_THROWS_AS(empty({2}, std::nullopt, std::nullopt, std::nullopt, true), NotImplementedError);
  CHECK_THROWS_AS(empty_like(Tensor()), Error);
}

TEST_CASE("the _like factories keep the order of strides and close gaps", "[ops][factories]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = empty_strided_on(place, {2, 3}, {1, 4}, DType::Int16);
  const Tensor y = ones_like(x);
  CHECK(strides_of(y) == Sizes{1, 2});
  CHECK(y.dtype() == DType::Int16);
  CHECK(y.device() == place);
  CHECK(holds(y, {1, 1, 1, 1, 1, 1}));
  CHECK(new_zeros(x, {4}).dtype() == DType::Int16);
}

TEST_CASE("empty_permuted names the order of dimensions in memory", "[ops][factories]") {
  const Device place = GENERATE(from_range(test::places()));
  const auto strides = [&](IntArrayRef size, IntArrayRef layout) {
    const Tensor t = empty_permuted(size, layout, DType::Int32, std::nullopt, place, std::nullopt);
    CHECK(t.device() == place);
    CHECK(t.dtype() == DType::Int32);
    return test::strides_of(t);
  };
  CHECK(strides({2, 3, 4}, {1, 2, 0}) == test::Sizes{1, 8, 2});
  CHECK(strides({0, 3}, {1, 0}) == test::Sizes{1, 1});
  CHECK(strides({}, {}).empty());
  for (const DimVector& layout : {DimVector{1, 2}, {1, 2, 2}, {1, 2, 3}, {1, 2, -3}}) {
    CHECK_THROWS_WITH(
        strides({2, 3, 4}, layout),
        Catch::Contains("empty_permuted: argument physical_layout: expected a permutation"));
  }
  CHECK_THROWS_AS(strides({2, -3}, {0, 1}), RuntimeError);
  const Tensor out = empty({2, 3}, DType::Float32, std::nullopt, place);
  CHECK(test::strides_of(empty_permuted_out({2, 3}, {1, 0}, out)) == test::Sizes{3, 1});
}

TEST_CASE("arange counts up to its end, and down", "[ops][factories]") {
  CHECK(holds(arange(3), {0, 1, 2}));
  CHECK(arange(3).dtype() == DType::Int64);
  CHECK(arange(3.0).dtype() == DType::Float32);
  CHECK(holds(arange_start_step(1, -2, -1.5), {1, -0.5}));
  // The ends of integers keep their fractions for the count alone.
  CHECK(holds(arange_out(3.1, empty({4}, DType::Int64)), {0, 1, 2, 3}));
  CHECK_THROWS_AS(arange_start_step(0, 3, 0), RuntimeError);
  CHECK_THROWS_AS(arange_start(3, 0), RuntimeError);
  CHECK_THROWS_AS(arange(NAN), RuntimeError);
  CHECK_THROWS_AS(
      arange_start(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
      RuntimeError);
}

TEST_CASE("eye has ones on its diagonal", "[ops][factories]") {
  CHECK(holds(eye_m(2, 3), {1, 0, 0, 0, 1, 0}));
  CHECK(sizes_of(eye(0)) == Sizes{0, 0});
  CHECK_THROWS_AS(eye(-1), RuntimeError);
}

TEST_CASE("a range of integers takes the fractions of its ends for its length alone",
          "[ops][factories]") {
  CHECK(arange_start(0.5, 3.6, DType::Int32).numel() == 4);
  CHECK(arange_start(0.5, 3.6, DType::Int64).numel() == 4);
  CHECK_THROWS_AS(arange_start(0.1, 0, DType::UInt8), RuntimeError);
  CHECK_THROWS_AS(arange_start(3.6, 1.2, DType::Int32), RuntimeError);
  CHECK(arange(std::complex<double>(3, 0)).numel() == 3);
  CHECK_THROWS_AS(arange(std::complex<double>(3, 1)), RuntimeError);
}

TEST_CASE("an out keeps its shape where the values do not fit its dtype", "[ops][factories]") {
  const Tensor out = zeros({4, 4}, DType::Int8);
  CHECK_THROWS_AS(logspace_out(1000, 1000, 1, 10.0, out), RuntimeError);
  CHECK_THROWS_AS(linspace_out(0, 300, 5, out), RuntimeError);
  CHECK_THROWS_AS(empty_strided_out({2}, {1, 1}, out), RuntimeError);
  CHECK(sizes_of(out) == Sizes{4, 4});
}

TEST_CASE("the real part of a complex number says whether it is true", "[ops][factories]") {
  CHECK(holds(full({1}, std::complex<double>(2, 1), DType::Bool), {1}));
  CHECK(holds(full({1}, std::complex<double>(0, 1), DType::Bool), {0}));
}

TEST_CASE("the ends of linspace and logspace may be 0-dim tensors") {
  const auto run = [](const char* op, std::vector<IValue> arguments) {
    return default_dispatcher().find_op_or_throw(op).call(std::move(arguments))[0].to_tensor();
  };
  const Tensor one = test::tensor_of({}, {1}), three = test::tensor_of({}, {3});
  const IValue steps(int64_t{3});
  CHECK(test::holds(run("aten::linspace.Tensor_Tensor", {one, three, steps}), {1, 2, 3}));
  CHECK(test::holds(run("aten::logspace.Scalar_Tensor", {IValue(1.0), three, steps, IValue(2.0)}),
                    {2, 4, 8}));
  CHECK_THROWS_AS(
      run("aten::linspace.Tensor_Scalar", {test::tensor_of({1}, {1}), IValue(3.0), steps}),
      RuntimeError);
  const Tensor meta = empty_on(DeviceType::Meta, {}, DType::Float32);
  CHECK(run("aten::linspace.Tensor_Scalar", {meta, IValue(3.0), steps}).is_meta());
}

}  // namespace
}  // namespace sb
