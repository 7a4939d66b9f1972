#include "switchboard/transforms/vmap/vmap.h"

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/vmap/examples.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensors itself(const Tensors& in) { return in; }

TEST_CASE("a function of one example runs once for all of them") {
  int runs = 0;
  const auto inner = [&](const Tensor& x, const Tensor& y) {
    ++runs;
    CHECK(x.sizes() == IntArrayRef{4});
    CHECK(x.strides() == IntArrayRef{1});
    return dot(x, y);
  };
  const Tensor x = numbers({3, 4}), y = numbers({3, 4}, 5);
  CHECK(same(vmap(inner, {x, y})[0], sum_dim(x * y, {{1}})));
  CHECK(runs == 1);
}

TEST_CASE("in_dims say where the examples of each input lie, and which are the same for all") {
  const Tensor x = numbers({3, 4}), w = numbers({3});
  const auto f = [](const Tensor& row, const Tensor& weights) { return row * weights; };
  CHECK(same(vmap(f, {x, w}, {.in_dims = {1, std::nullopt}})[0], t(x) * w));
  CHECK(same(vmap(f, {x, w}, {.in_dims = {-1, std::nullopt}})[0], t(x) * w));
  CHECK(same(vmap(f, {w, x}, {.in_dims = {std::nullopt, 1}})[0], t(x) * w));
}

TEST_CASE("out_dims say where they lie in the results") {
  const Tensor x = numbers({3, 4}), w = numbers({2});
  CHECK(same(vmap(itself, {x}, {.out_dims = {1}})[0], t(x)));
  CHECK(same(vmap(itself, {x}, {.out_dims = {-1}})[0], t(x)));
  const VmapOptions both{.in_dims = {0, std::nullopt}, .out_dims = {1, std::nullopt}};
  const Tensors results = vmap(itself, {x, w}, both);
  CHECK(same(results[0], t(x)));
  CHECK(results[1].is_same(w));
}

TEST_CASE("a result that is the same for all examples is expanded") {
  const Tensor x = numbers({3, 4});
  const Tensor y = vmap([](const Tensor&) { return numbers({2}); }, {x})[0];
  CHECK(same(y, expand(numbers({2}), {3, 2})));
  CHECK(y.stride(0) == 0);
}

TEST_CASE("a result is never the very tensor that was given") {
  const Tensor x = numbers({3, 4});
  const Tensor y = vmap(itself, {x})[0];
  CHECK_FALSE(y.is_same(x));
  CHECK(y.is_alias_of(x));
}

TEST_CASE("examples run in chunks") {
  const Tensor x = numbers({5, 2});
  std::vector<int64_t> sizes;
  const auto f = [&](const Tensor& row) { return row * 2; };
  for (int64_t chunk : {1, 2, 5, 9}) CHECK(same(vmap(f, {x}, {.chunk_size = chunk})[0], x * 2));
  CHECK(same(vmap(f, {x}, {.in_dims = {1}, .out_dims = {1}, .chunk_size = 1})[0], x * 2));
}

TEST_CASE("without an example the results are empty, of the shapes that an example would have") {
  const auto f = [](const Tensor& x) { return Tensors{sum_all(x), x * 2, x > 1}; };
  const Tensors results = vmap(f, {zeros({0, 4})});
  CHECK(results[0].sizes() == IntArrayRef{0});
  CHECK(results[1].sizes() == IntArrayRef{0, 4});
  CHECK(results[2].dtype() == DType::Bool);
}

TEST_CASE("what does not fit together is told") {
  const Tensor x = numbers({3, 4}), y = numbers({2, 4}), scalar = numbers({});
  const auto error = [](Tensors inputs, VmapOptions options) {
    return message_of([&] { vmap(itself, inputs, options); });
  };
  CHECK(error({x, y}, {}) ==
        "ValueError: vmap: input 1: expected 3 examples, as in the inputs before it, got 2");
  CHECK(error({x, y}, {.in_dims = {0}}) ==
        "ValueError: vmap: in_dims: expected 2, one for each input, got 1");
  CHECK(error({x}, {.in_dims = {2}}) ==
        "ValueError: vmap: in_dims: input 0 is float32[3, 4] on cpu, whose dimensions are from -2 "
        "to 1; got 2");
  CHECK_THAT(error({scalar}, {}), Contains("ValueError: vmap: in_dims: input 0 is float32[]"));
  CHECK(error({x}, {.in_dims = {std::nullopt}}) ==
        "ValueError: vmap: in_dims: no input has one, so that nothing says how many examples there "
        "are");
  CHECK(error({x}, {.out_dims = {0, 0}}) ==
        "ValueError: vmap: out_dims: expected 1, one for each result, got 2");
  CHECK(error({x}, {.out_dims = {2}}) ==
        "IndexError: vmap: out_dims: result 0 has 2 dimensions with that of the examples, from -2 "
        "to 1; got 2");
  CHECK(error({x}, {.out_dims = {std::nullopt}}) ==
        "ValueError: vmap: result 0, float32[4] on cpu, is not the same for all examples; its "
        "out_dim must be a number");
  CHECK(error({x}, {.chunk_size = 0}) ==
        "ValueError: vmap: chunk_size: expected a positive number, got 0");
}

TEST_CASE("a tensor that escapes from its function is told by its next call") {
  Tensor escaped;
  vmap([&](const Tensor& x) { return escaped = x; }, {numbers({3, 4})});
  CHECK(message_of([&] { return escaped * 2; }) ==
        "RuntimeError: aten::mul.Scalar: a tensor of a vmap that is over, of vmap level 1, has "
        "escaped from its function");
}

TEST_CASE("batched tensors have no data to read") {
  vmap(
      [](const Tensor& x) {
        CHECK_THROWS_AS(x.data<float>(), RuntimeError);
        return x;
      },
      {numbers({3, 4})});
}

TEST_CASE("levels nest, each with its own examples") {
  const Tensor x = numbers({2, 3}), y = numbers({4, 3}, -3);
  const auto outer = [&](const Tensor& a) {
    return vmap([&](const Tensor& b) { return dot(a, b); }, {y})[0];
  };
  CHECK(same(vmap(outer, {x})[0], mm(x, t(y))));
  // The inner level has the examples of the outer one.
  const Tensor z = numbers({2, 3, 4});
  const auto twice = [](const Tensor& m) {
    return vmap([&](const Tensor& row) { return row * sum_all(m); }, {m}, {.in_dims = {1}})[0];
  };
  check_as_loop([&](const Tensors& in) { return Tensors{twice(in[0])}; }, {z});
}

}  // namespace
}  // namespace sb::test
