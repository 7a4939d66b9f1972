#include <limits>
#include <numeric>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::holds;
using test::tensor_of;

const Device kCpu(DeviceType::CPU);

Tensor vector_of(const std::vector<int64_t>& values) {
  const Tensor t = empty_on(kCpu, {static_cast<int64_t>(values.size())}, DType::Int64);
  std::copy(values.begin(), values.end(), t.data<int64_t>());
  return t;
}
Tensor floats(IntArrayRef sizes) {
  const Tensor t = empty_on(kCpu, sizes, DType::Float32);
  std::iota(t.data<float>(), t.data<float>() + t.numel(), 0.0f);
  return t;
}

// Restores the number of threads.
struct Threads {
  int before = get_num_threads();
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
};

TEST_CASE("a scatter that finds a bad index last has written nothing, to self or to out") {
  const Tensor self = floats({4}), out = zeros({4});
  const Tensor bad = vector_of({0, 1, 9}), src = floats({3});
  CHECK_THROWS_AS(scatter_(self, 0, bad, src), RuntimeError);
  CHECK_THROWS_AS(index_copy_(self, 0, bad, src), IndexError);
  CHECK_THROWS_AS(index_add_(self, 0, bad, src), IndexError);
  CHECK_THROWS_AS(put_(self, bad, src), IndexError);
  CHECK_THROWS_AS(index_put_(self, {bad}, src), IndexError);
  CHECK(equal(self, floats({4})));
  CHECK_THROWS_AS(scatter_add_out(self, 0, bad, src, out), RuntimeError);
  CHECK(equal(out, zeros({4})));
}

TEST_CASE("elements that meet one place are added in the order of the indices for any threads") {
  const int64_t n = 200000, places = 7;
  std::vector<int64_t> where(static_cast<size_t>(n));
  const Tensor src = empty_on(kCpu, {n, 3}, DType::Float32);
  for (int64_t i = 0; i < n; ++i) {
    where[static_cast<size_t>(i)] = (i * 5) % places;
    for (int64_t d = 0; d < 3; ++d) {
      src.data<float>()[3 * i + d] = 1.0f / static_cast<float>(1 + (i * 7919) % 1000);
    }
  }
  const Tensor index = vector_of(where);
  const auto run = [&](int threads) {
    const Threads guard(threads);
    return std::pair(index_add(zeros({places, 3}), 0, index, src),
                     index_put(zeros({places, 3}), {index}, src, true));
  };
  const auto one = run(1), four = run(4);
  CHECK(equal(one.first, four.first));
  CHECK(equal(one.second, four.second));
  CHECK(equal(one.first, one.second));
}

TEST_CASE("rows chosen by several threads are the rows that were asked for") {
  const Threads guard(4);
  const Tensor table = floats({1000, 33});
  std::vector<int64_t> where(5000);
  for (size_t i = 0; i < where.size(); ++i) where[i] = static_cast<int64_t>(i * 37 % 1000);
  const Tensor rows = index_select(table, 0, vector_of(where));
  const Tensor columns = index_select(transpose(table, 0, 1), 1, vector_of(where));
  const Tensor both = index(table, {vector_of(where)});
  bool right = true;
  for (int64_t i = 0; i < 5000; ++i) {
    for (int64_t d = 0; d < 33; ++d) {
      right &= rows.data<float>()[i * 33 + d] ==
               static_cast<float>(where[static_cast<size_t>(i)] * 33 + d);
    }
  }
  CHECK(right);
  CHECK(equal(rows, both));
  CHECK(equal(transpose(rows, 0, 1), columns));
  CHECK(equal(embedding(table, vector_of(where)), rows));
}

TEST_CASE("an expanded index costs no memory, and names the same rows as a vector") {
  const Tensor index = vector_of({2, 0, 2});
  const Tensor wide = expand(unsqueeze(index, 1), {3, 4});
  CHECK(equal(gather(floats({3, 4}), 0, wide), index_select(floats({3, 4}), 0, index)));
  CHECK(equal(scatter_add(zeros({3, 4}), 0, wide, floats({3, 4})),
              index_add(zeros({3, 4}), 0, index, floats({3, 4}))));
}

TEST_CASE("indices that are not neighbours put their dimensions in front") {
  const Tensor x = floats({2, 3, 4});
  const Tensor i = vector_of({1, 0});
  CHECK(index(x, {std::nullopt, i, i}).sizes() == IntArrayRef({2, 2}));
  CHECK(index(x, {i, std::nullopt, i}).sizes() == IntArrayRef({2, 3}));
  CHECK(index(x, {std::nullopt, i}).sizes() == IntArrayRef({2, 2, 4}));
}

TEST_CASE("indices far out of range are errors, not addresses") {
  const Tensor x = floats({3, 4});
  for (int64_t far : {INT64_MAX, INT64_MIN, int64_t{1} << 62}) {
    const Tensor i = vector_of({far});
    CHECK_THROWS_AS(index(x, {i}), IndexError);
    CHECK_THROWS_AS(take(x, i), IndexError);
    CHECK_THROWS_AS(index_select(x, 0, i), IndexError);
    CHECK_THROWS_AS(gather(x, 0, unsqueeze(i, 0)), RuntimeError);
    CHECK_THROWS_AS(index_fill(x, 0, i, 1), IndexError);
    CHECK_THROWS_AS(embedding(x, i), IndexError);
  }
}

TEST_CASE("a diagonal beyond every corner leaves a triangle whole or empty") {
  const Tensor x = floats({3, 4});
  CHECK(equal(tril(x, INT64_MAX), x));
  constexpr int64_t kLeast = -(int64_t{1} << 62);  // that a SymInt holds
  CHECK(equal(tril(x, kLeast), zeros({3, 4})));
  CHECK(equal(triu(x, kLeast), x));
  CHECK_THROWS_WITH(tril(x, INT64_MIN), Catch::Contains("out of range for SymInt"));
  CHECK(equal(triu(x, INT64_MAX), zeros({3, 4})));
}

TEST_CASE("the indices of a triangle are counted, not walked: a column of any height is quick") {
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (int64_t offset = -4; offset <= 5; ++offset) {
    for (int64_t rows = 0; rows < 5; ++rows) {
      for (int64_t cols = 0; cols < 5; ++cols) {
        CAPTURE(offset, rows, cols);
        int64_t lower = 0, upper = 0;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < cols; ++c) {
            lower += c - r <= offset;
            upper += c - r >= offset;
          }
        }
        CHECK(tril_indices(rows, cols, offset).size(1) == lower);
        CHECK(triu_indices(rows, cols, offset).size(1) == upper);
      }
    }
  }
  CHECK(triu_indices(kHuge, 3).size(1) == 6);
  CHECK(tril_indices(kHuge, 0).size(1) == 0);
  CHECK(tril_indices(kHuge, kHuge, -kHuge).size(1) == 0);
  CHECK(triu_indices(kHuge, kHuge, std::numeric_limits<int64_t>::max()).size(1) == 0);
  CHECK(tril_indices(2, 2, std::numeric_limits<int64_t>::min()).size(1) == 0);
  CHECK(triu_indices(2, 2, std::numeric_limits<int64_t>::min()).size(1) == 4);
  CHECK_THROWS_AS(tril_indices(kHuge, kHuge), RuntimeError);
}

TEST_CASE("a shape that depends on data is an error of its own kind on meta") {
  const Device meta(DeviceType::Meta);
  const Tensor x = empty_on(meta, {3}, DType::Float32), mask = empty_on(meta, {3}, DType::Bool);
  CHECK_THROWS_AS(nonzero(x), DynamicOutputShapeError);
  CHECK_THROWS_AS(masked_select(x, mask), DynamicOutputShapeError);
  CHECK_THROWS_AS(index(x, {mask}), DynamicOutputShapeError);
  // Writing through a mask changes no shape.
  CHECK_NOTHROW(index_put_(x, {mask}, empty_on(meta, {}, DType::Float32)));
}

TEST_CASE("sums of 16-bit floats are rounded once, not at each element") {
  // In bfloat16 alone a sum of ones stops at 256.
  const Tensor many = ones({4096}, DType::BFloat16);
  const Tensor sum = index_add(zeros({1}, DType::BFloat16), 0, zeros({4096}, DType::Int64), many);
  CHECK(item(sum).to<double>() == 4096);
}

TEST_CASE("an index out of range is found before anything is written, and named by its operator",
          "[ops][indexing]") {
  const Tensor self = tensor_of({2}, {1, 2}), source = tensor_of({2}, {10, 20});
  const Tensor index = tensor_of({2}, {0, 5}, DType::Int64);
  const Tensor out = tensor_of({2}, {7, 8});
  const auto fails = [&](const char* op, auto&& call) {
    CHECK_THROWS_WITH(call(), Catch::Contains(op));
    CHECK(holds(out, {7, 8}));
  };
  fails("index_add", [&] { index_add_out(self, 0, index, source, 1, out); });
  fails("index_reduce", [&] { index_reduce_out(self, 0, index, source, "amax", true, out); });
  fails("index_copy", [&] { index_copy_out(self, 0, index, source, out); });
  fails("scatter_add", [&] { scatter_add_out(self, 0, index, source, out); });
  fails("scatter_reduce", [&] { scatter_reduce_out(self, 0, index, source, "sum", true, out); });
}

TEST_CASE("a pad of the smallest integer is refused", "[ops][indexing]") {
  constexpr int64_t smallest = std::numeric_limits<int64_t>::min();
  const Tensor x = tensor_of({2}, {1, 2});
  CHECK_THROWS_AS(constant_pad_nd(x, {smallest, 1}, 0), Error);
  CHECK_THROWS_AS(constant_pad_nd(x, {1, smallest}, 0), Error);
}

TEST_CASE("the mean of a bag divides by its offsets' distance, ascending or not, less its padding",
          "[ops][indexing]") {
  const Tensor weight = tensor_of({3, 1}, {1, 2, 4}, DType::Float64);
  const Tensor indices = tensor_of({5}, {0, 1, 2, 2, 1}, DType::Int64);
  const Tensor offsets = tensor_of({3}, {0, 2, 0}, DType::Int16);  // converted with the indices
  const auto [out, bag_of, size, from] = embedding_bag_padding_idx(
      weight, indices, offsets, false, /*mode=*/1, false, std::nullopt, false, /*padding_idx=*/1);
  CHECK(test::values_of(bag_of) == std::vector<double>{1, 1, 2, 2, 2});
  CHECK(test::values_of(size) == std::vector<double>{2, -3, 4});
  CHECK(test::values_of(out) == std::vector<double>{0, 1, 2});
}

TEST_CASE("bags of float16 rows are added up in float32", "[ops][indexing]") {
  const Tensor weight = tensor_of({3, 2}, {2048, 1, 1, 2, 1, 3}, DType::Float16);
  const Tensor indices = tensor_of({3}, {0, 1, 2}, DType::Int64);
  const Tensor offsets = tensor_of({1}, {0}, DType::Int64);
  const int64_t mode = GENERATE(0, 2);
  const Tensor bags = std::get<0>(
      _embedding_bag(weight, indices, offsets, false, mode, false, std::nullopt, false, -1));
  CHECK(holds(bags, mode == 0 ? std::vector<double>{2050, 6} : std::vector<double>{2048, 3}));
}

TEST_CASE("take_along_dim writes to an out of its own dtype alone", "[ops][indexing]") {
  const Tensor x = floats({2, 3}), indices = vector_of({5, 0});
  const Tensor out = floats({0}), other = vector_of({7, 8});
  CHECK(holds(take_along_dim_out(x, indices, {}, out), {5, 0}));
  CHECK_THROWS_AS(take_along_dim_out(x, indices, {}, other), RuntimeError);
  CHECK(holds(other, {7, 8}));
}

TEST_CASE("masked_scatter_ fills in the order of the indices, however self lies in memory",
          "[ops][indexing]") {
  const Tensor x = transpose(zeros({3, 2}), 0, 1);
  const Tensor mask = empty_on(DeviceType::CPU, {2, 3}, DType::Bool);
  const bool chosen[] = {true, false, true, true, true, false};
  std::copy(chosen, chosen + 6, mask.data<bool>());
  masked_scatter_(x, mask, test::tensor_of({4}, {1, 2, 3, 4}));
  CHECK(test::values_of(x) == std::vector<double>{1, 0, 2, 3, 4, 0});
}

TEST_CASE("a flip of long rows has each element where its index says", "[ops][indexing]") {
  const Tensor x = slice(floats({6, 2, 40}), 0, 0, 6, 2);  // not dense
  std::vector<int64_t> reversed(40);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  for (const DType dtype : {DType::Int8, DType::Float16, DType::Float32, DType::Float64}) {
    const Tensor t = to_dtype(x, dtype);
    CHECK(equal(flip(t, {2}), index_select(t, 2, vector_of(reversed))));
    CHECK(equal(flip(t, {0, 1}),
                index_select(index_select(t, 0, vector_of({2, 1, 0})), 1, vector_of({1, 0}))));
    CHECK(equal(flip(flip(t, {0, 2}), {0, 2}), t));
  }
}

TEST_CASE("nonzero_static has the rows that it is asked for", "[ops][indexing]") {
  const Tensor x = test::tensor_of({2, 2}, {1, 0, 0, 3});
  CHECK(test::values_of(nonzero_static(x, 3)) == std::vector<double>{0, 0, 1, 1, -1, -1});
  CHECK(test::values_of(nonzero_static(x, 1)) == std::vector<double>{0, 0});
  CHECK_THROWS_AS(nonzero_static(x, -1), RuntimeError);
}

TEST_CASE("fill_diagonal_ writes where all indices agree, and wraps if told", "[ops][indexing]") {
  const Tensor tall = zeros({5, 2});
  fill_diagonal_(tall, 7);
  CHECK(test::values_of(tall) == std::vector<double>{7, 0, 0, 7, 0, 0, 0, 0, 0, 0});
  fill_diagonal_(tall, 8, true);
  CHECK(test::values_of(tall) == std::vector<double>{8, 0, 0, 8, 0, 0, 8, 0, 0, 8});
  const Tensor cube = zeros({2, 2, 2});
  fill_diagonal_(cube, 1);
  CHECK(test::values_of(cube) == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 1});
  CHECK_THROWS_AS(fill_diagonal_(zeros({2, 2, 3}), 1), RuntimeError);
  CHECK_THROWS_AS(fill_diagonal_(zeros({2}), 1), RuntimeError);
}

TEST_CASE("without an index there is nothing to put, and the shapes are looked at first") {
  const Tensor x = floats({3, 2});
  CHECK_THROWS_AS(index(x, {}), IndexError);
  CHECK_THROWS_WITH(index_put(x, {}, floats({2, 2}), true), Catch::Contains("do not broadcast"));
  CHECK_THROWS_AS(index_put(x, {}, floats({3, 2})), RuntimeError);
  CHECK(index_put(floats({0, 2}), {}, floats({2})).numel() == 0);
}

TEST_CASE("indices may be of 32 bits") {
  const Tensor x = floats({3, 2}), places = cast_copy(vector_of({2, -3}), DType::Int32);
  CHECK(holds(index(x, {{places}}), {4, 5, 0, 1}));
  CHECK(holds(index_put(x, {{places}}, tensor_of({}, {7})), {7, 7, 2, 3, 7, 7}));
}

TEST_CASE("a source of index_add has the shape of self but for the dimension") {
  const Tensor x = floats({3, 2});
  CHECK_THROWS_AS(index_add(x, 0, vector_of({0, 2}), floats({2})), RuntimeError);
  CHECK_THROWS_AS(index_add(x, 0, vector_of({0, 2}), floats({2, 1})), RuntimeError);
  CHECK_THROWS_AS(index_add(floats({}), 0, vector_of({0}), floats({1})), RuntimeError);
  CHECK(holds(index_add(x, 0, vector_of({0, 0}), full({2, 2}, 1.0)), {2, 3, 2, 3, 4, 5}));
}

TEST_CASE("a number is selected by one index") {
  CHECK(holds(index_select(floats({}), 0, vector_of({0})), {0}));
  CHECK_THROWS_AS(index_select(floats({}), 0, vector_of({0, 0})), RuntimeError);
  CHECK_THROWS_AS(index_select(floats({}), 0, vector_of({})), RuntimeError);
}

TEST_CASE("a diagonal beyond the matrix is empty") {
  CHECK(diag(floats({1, 5}), -2).numel() == 0);
  CHECK(diag(floats({1, 5}), 5).numel() == 0);
}

TEST_CASE("an index without dimensions is one place, which a source must have") {
  const Tensor self = test::tensor_of({2}, {1, 2}), none = test::tensor_of({0}, {});
  const Tensor index = test::tensor_of({}, {0}, DType::Int64);
  CHECK_THROWS_AS(scatter(self, 0, index, none), RuntimeError);
  CHECK_THROWS_AS(scatter_add(self, 0, index, none), RuntimeError);
  CHECK_THROWS_AS(scatter_reduce(self, 0, index, none, "mean"), RuntimeError);
}

TEST_CASE("nothing is copied to places of a dimension that has none, unless nothing is given") {
  const Tensor self = test::tensor_of({0}, {}), index = test::tensor_of({1}, {0}, DType::Int64);
  CHECK_THROWS_AS(index_copy(self, 0, index, test::tensor_of({1}, {1})), RuntimeError);
  CHECK_THROWS_AS(index_copy(self, 0, index, test::tensor_of({}, {1})), RuntimeError);
  CHECK(index_copy(test::tensor_of({2, 0}, {}), 0, index, test::tensor_of({1, 0}, {})).numel() ==
        0);
}

TEST_CASE("along a dimension nothing is taken from a tensor without dimensions") {
  const Tensor self = test::tensor_of({}, {5}), index = test::tensor_of({}, {0}, DType::Int64);
  CHECK_THROWS_AS(take_along_dim(self, index, 0), IndexError);
  CHECK_THROWS_AS(take_along_dim(self, index, -1), IndexError);
  CHECK(holds(take_along_dim(self, index, std::nullopt), {5}));
}

}  // namespace
}  // namespace sb
