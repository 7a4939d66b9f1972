#include "switchboard/ops/copying/copy.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::holds;
using test::places;
using test::Sizes;
using test::sizes_of;
using test::strides_of;
using test::tensor_of;

TEST_CASE("copy_ broadcasts and converts its source", "[ops][copy]") {
  auto place = GENERATE(from_range(places()));
  const Tensor to = empty_strided_on(place, {2, 3}, {1, 2}, DType::Int32);
  copy_(to, tensor_of({3}, {1.9, -1.9, 3}, DType::Float32, place));
  CHECK(holds(to, {1, -1, 3, 1, -1, 3}));
}

TEST_CASE("copy_ refuses what does not fit, and partial overlap", "[ops][copy]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({4}, {1, 2, 3, 4}, DType::Float32, place);
  CHECK_THROWS_AS(copy_(x, tensor_of({2, 4}, {}, DType::Float32, place)), RuntimeError);
  CHECK_THROWS_AS(copy_(alias_with(x, {3}, {1}, 0), alias_with(x, {3}, {1}, 1)), RuntimeError);
  CHECK_THROWS_AS(copy_(alias_with(x, {3}, {0}, 0), x), RuntimeError);
  CHECK_THROWS_AS(copy_(x, Tensor()), RuntimeError);
  CHECK(holds(x, {1, 2, 3, 4}));
}

TEST_CASE("nothing can be copied out of a meta tensor", "[ops][copy]") {
  const Tensor meta = empty_on(DeviceType::Meta, {2}, DType::Float32);
  const Tensor cpu = tensor_of({2}, {1, 2});
  CHECK_THROWS_AS(copy_(cpu, meta), NotImplementedError);
  CHECK(copy_(meta, cpu).is_same(meta));
  CHECK(holds(cpu, {1, 2}));
}

TEST_CASE("every dtype converts to every other", "[ops][copy]") {
  for (int i = 0; i < kNumPlainDTypes; ++i) {
    for (int j = 0; j < kNumPlainDTypes; ++j) {
      const Tensor x = tensor_of({2}, {0, 1}, static_cast<DType>(i));
      CHECK(holds(to_dtype(x, static_cast<DType>(j)), {0, 1}));
    }
  }
}

TEST_CASE("conversions that do not fit are defined", "[ops][copy]") {
  const Tensor x = tensor_of({4}, {3e9, -1, INFINITY, NAN}, DType::Float64);
  CHECK(holds(to_dtype(x, DType::Int32), {-2147483648.0, -1, -2147483648.0, -2147483648.0}));
  CHECK(holds(to_dtype(x, DType::Bool), {1, 1, 1, 1}));
}

TEST_CASE("a copy of a bool has the same byte, whichever of them say true", "[ops][copy]") {
  const Tensor bytes = tensor_of({4}, {0, 1, 2, 255}, DType::UInt8);
  const Tensor truths = view_dtype(bytes, DType::Bool);
  for (const Tensor& part : {truths, slice(truths, 0, 0, 4, 2), expand(truths, {3, 4})})
    CHECK(test::values_of(view_dtype(clone(part), DType::UInt8)) ==
          test::values_of(view_dtype(part, DType::UInt8)));
}

TEST_CASE("to gives self where it is what was asked for", "[ops][copy]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2}, {1, 2}, DType::Float32, place);
  CHECK(to_dtype(x, DType::Float32).is_same(x));
  CHECK(to(x).is_same(x));
  CHECK_FALSE(to_dtype(x, DType::Float32, false, true).is_same(x));
  CHECK(to_dtype(x, DType::Int64).dtype() == DType::Int64);
  CHECK(to_device(x, DeviceType::Meta, DType::Float32).is_meta());
}

TEST_CASE("clone keeps dense strides, contiguous does not", "[ops][copy]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = empty_strided_on(place, {2, 3}, {1, 2}, DType::Float32);
  CHECK(strides_of(clone(x)) == Sizes{1, 2});
  CHECK(strides_of(contiguous(x)) == Sizes{3, 1});
  CHECK(contiguous(contiguous(x)).is_contiguous());
  CHECK_THROWS_AS(contiguous(x, MemoryFormat::ChannelsLast), RuntimeError);
}

TEST_CASE("fill_ refuses a number that does not fit", "[ops][fill]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2}, {1, 2}, DType::Int8, place);
  CHECK_THROWS_WITH(fill_(x, 300), Catch::Contains("int8"));
  CHECK_THROWS_AS(fill_(x, NAN), RuntimeError);
  CHECK_THROWS_AS(fill__Tensor(x, x), RuntimeError);
  CHECK(holds(x, {1, 2}));
  CHECK(holds(fill_(x, 3), {3, 3}));
  CHECK(holds(zero_(x), {0, 0}));
}

}  // namespace
}  // namespace sb
