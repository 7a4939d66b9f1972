#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/composite/facts.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/composite/split.h"
#include "switchboard/ops/composite/stack.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::holds;
using test::Sizes;
using test::sizes_of;
using test::tensor_of;

constexpr int64_t kMax = INT64_MAX;

std::vector<IValue> run(const char* op, std::vector<IValue> arguments) {
  return default_dispatcher().find_op_or_throw(op).call(std::move(arguments));
}

TEST_CASE("the copy of a view has memory of its own, also where no view exists") {
  const Tensor x = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const Tensor& from : {x, transpose(x, 0, 1)}) {
    const Tensor copy = run("aten::view_copy", {from, std::vector<int64_t>{6}})[0].to_tensor();
    CHECK_FALSE(copy.is_alias_of(x));
    CHECK(sizes_of(copy) == Sizes{6});
  }
  CHECK(run("aten::transpose_copy.int", {x, 0, 1})[0].to_tensor().is_contiguous());
  CHECK(run("aten::alias_copy", {transpose(x, 0, 1)})[0].to_tensor().is_contiguous());
  const IValue parts = run("aten::unbind_copy.int", {x})[0];
  for (const Tensor& part : parts.to_tensor_list()) CHECK_FALSE(part.is_alias_of(x));
}

TEST_CASE("the functional form of an in-place operator leaves self alone") {
  const Tensor x = tensor_of({2}, {1, 2});
  const Tensor y = run("aten::resize", {x, std::vector<int64_t>{1, 1}})[0].to_tensor();
  CHECK(sizes_of(y) == Sizes{1, 1});
  CHECK(sizes_of(x) == Sizes{2});
  CHECK_THROWS_AS(run("aten::resize", {x, std::vector<int64_t>{kMax, kMax}}), RuntimeError);
}

TEST_CASE("hostile sizes are refused") {
  const Tensor x = tensor_of({4, 4}, std::vector<double>(16, 1), DType::Float32,
                             GENERATE(from_range(test::places())));
  CHECK_THROWS_AS(tensor_split_sections(x, kMax), RuntimeError);
  CHECK_THROWS_AS(tensor_split_sections(x, INT64_MIN), RuntimeError);
  CHECK(tensor_split_indices(x, {int64_t{1} << 61, -(int64_t{1} << 61)}).size() == 3);
  CHECK_THROWS_AS(hsplit(x, INT64_MIN), RuntimeError);
  CHECK_THROWS_AS(tile(x, {kMax, kMax}), RuntimeError);
  CHECK_THROWS_AS(pixel_shuffle(unsqueeze(x, 0), kMax), RuntimeError);
  CHECK_THROWS_AS(pixel_unshuffle(unsqueeze(x, 0), kMax), RuntimeError);
  CHECK_THROWS_AS(unsafe_chunk(narrow(x, 0, 0, 0), kMax), RuntimeError);
  CHECK_THROWS_AS(linspace(0, 1, kMax), RuntimeError);
  CHECK_THROWS_AS(sum_to_size(x, {kMax}), RuntimeError);
  CHECK_THROWS_AS(block_diag({x, Tensor()}), Error);
  CHECK_THROWS_AS(atleast_2d(Tensor()), Error);
}

TEST_CASE("unsafe parts share memory and count their writes alone") {
  const Tensor x = tensor_of({4}, {1, 2, 3, 4});
  const std::vector<Tensor> parts = unsafe_split(x, 2);
  parts[0].impl()->bump_version();
  CHECK(parts[0].is_alias_of(x));
  CHECK(x.version() == 0);
  CHECK(parts[1].version() == 0);
}

TEST_CASE("linspace hits both ends, and is symmetric") {
  const Tensor x = linspace(-1, 1, 7, DType::Float32);
  CHECK(holds(x + run("aten::view_copy", {x, std::vector<int64_t>{7}})[0].to_tensor(),
              test::values_of(x * 2)));
  const std::vector<double> values = test::values_of(x);
  for (size_t i = 0; i < 7; ++i) CHECK(values[i] == -values[6 - i]);
  CHECK(holds(linspace(0, 255, 256, DType::UInt8), test::values_of(arange(256))));
  CHECK_THROWS_AS(linspace(0, 300, 3, DType::UInt8), RuntimeError);
}

TEST_CASE("the grid of a picture has rows first, and one of indices columns") {
  const Tensor x = tensor_of({3}, {1, 2, 3}), y = tensor_of({2}, {4, 5});
  const std::vector<Tensor> picture = meshgrid_indexing({x, y}, "xy");
  CHECK(sizes_of(picture[0]) == Sizes{2, 3});
  CHECK(holds(picture[1], {4, 4, 4, 5, 5, 5}));
  CHECK(holds(meshgrid({x, y})[1], {4, 5, 4, 5, 4, 5}));
  CHECK(holds(cartesian_prod({y, y}), {4, 4, 4, 5, 5, 4, 5, 5}));
}

TEST_CASE("the out= form of a view's copy gives out the view's shape, and takes its dtype alone") {
  const OperatorHandle op = default_dispatcher().find_op_or_throw("aten::alias_copy.out");
  const auto run_out = [&](const Tensor& self, const Tensor& to) {
    Stack stack{self, to};
    op.call_boxed(&stack);
  };
  const Tensor x = tensor_of({1, 3}, {1, 2, 3});
  for (const Tensor& out : {tensor_of({2, 3}, {0, 0, 0, 0, 0, 0}), tensor_of({0}, {})}) {
    run_out(x, out);
    CHECK(sizes_of(out) == Sizes{1, 3});
    CHECK(holds(out, {1, 2, 3}));
  }
  const Tensor integers = tensor_of({1}, {7}, DType::Int64);
  CHECK_THROWS_AS(run_out(x, integers), RuntimeError);
  CHECK(sizes_of(integers) == Sizes{1});
}

TEST_CASE("channels are shuffled as a matrix of groups is turned") {
  const Tensor x = tensor_of({1, 4, 1}, {0, 1, 2, 3});
  CHECK(holds(run("aten::channel_shuffle", {x, IValue(int64_t{2})})[0].to_tensor(), {0, 2, 1, 3}));
  CHECK_THROWS_AS(run("aten::channel_shuffle", {x, IValue(int64_t{3})}), RuntimeError);
}

TEST_CASE("chunks of several tensors stand beside each other, filled up with zeros") {
  const std::vector<Tensor> list = {tensor_of({3}, {1, 2, 3}), tensor_of({2}, {4, 5})};
  const Tensor rows =
      run("aten::_chunk_cat", {list, IValue(int64_t{0}), IValue(int64_t{2})})[0].to_tensor();
  CHECK(sizes_of(rows) == Sizes{2, 3});
  CHECK(holds(rows, {1, 2, 4, 3, 0, 5}));
}

TEST_CASE("a masked index reads no place outside and fills what the mask leaves") {
  const Tensor x = tensor_of({3}, {5, 6, 7}), mask = tensor_of({2}, {1, 0}, DType::Bool);
  const std::vector<std::optional<Tensor>> places = {tensor_of({2}, {2, 99}, DType::Int64)};
  const Tensor read =
      run("aten::_unsafe_masked_index", {x, mask, IValue(places), IValue(-1.0)})[0].to_tensor();
  CHECK(holds(read, {7, -1}));
}

}  // namespace
}  // namespace sb
