// What an attacker found: arguments that led out of memory, or changed something although they were
// refused.

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

TEST_CASE("resizing an expanded tensor to its own shape in a format makes room for every element") {
  const Tensor x = expand(ones({1}), {64, 64});
  resize_as_(x, zeros({64, 64}), MemoryFormat::Preserve);
  REQUIRE(x.storage()->nbytes() >= 64 * 64 * sizeof(float));
  fill_(x, 3);
  CHECK(item(sum(x)) == Scalar(3.0 * 64 * 64));
}

TEST_CASE("an out that is a view of the result is given its elements and its shape") {
  const Tensor x = full({2, 3, 1}, 7);
  const Tensor out = as_strided(x, {1, 3, 1}, {1, 2, 6});
  _unsafe_view_out(x, {2, 3}, out);
  CHECK(out.sizes() == IntArrayRef({2, 3}));
  CHECK(item(sum(out)) == Scalar(42));
}

TEST_CASE("copies between overlapping views read and write inside their memory") {
  const Tensor base = ones({8});
  CHECK_NOTHROW(copy_(as_strided(base, {2, 2}, {4, 1}, 1), as_strided(base, {2, 2}, {4, 1}, 0)));
}

TEST_CASE("any byte but 0 is true in a bool tensor that is a view of bytes") {
  const Tensor bytes = full({4}, 2, DType::UInt8);
  const Tensor bools = view_dtype(bytes, DType::Bool);
  CHECK(item(sum(to(bools, DType::Int64))) == Scalar(4));
  CHECK(item(select(bools, 0, 0)) == Scalar(true));
}

TEST_CASE("strides of dimensions of one element lead nowhere, however large") {
  const Tensor x = ones({4});
  const int64_t far = int64_t{1} << 57;
  CHECK(clone(as_strided(x, {1, 4, 1}, {far, 1, far}, 0)).numel() == 4);
  CHECK(item(to(as_strided(x, {1}, {far}, 0), DType::Int16)) == Scalar(1));
  CHECK(item(argmax(as_strided(x, {1, 1}, {far, far}, 0))) == Scalar(0));
  // Not so large that they have no number of bytes.
  CHECK_THROWS_WITH(as_strided(x, {1}, {INT64_MAX}, 0), Catch::Contains("a stride is too large"));
}

TEST_CASE("the functional form of set copies a source that is too small, which stays as it is") {
  const Tensor source = ones({4});
  const Tensor wide = set_source_Tensor(ones({2}, DType::Float64), source);
  CHECK(source.storage()->nbytes() == 4 * sizeof(float));
  CHECK(wide.storage()->nbytes() == 4 * sizeof(double));
  CHECK(!wide.is_alias_of(source));
  CHECK(set_source_Tensor(ones({2}), source).is_alias_of(source));
}

TEST_CASE("an eye without elements is one, however wide") {
  CHECK(eye_m(0, int64_t{1} << 60).numel() == 0);
}

}  // namespace
}  // namespace sb
