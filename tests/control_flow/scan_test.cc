#include "switchboard/transforms/control_flow/scan.h"

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Running sums of the rows of in[1], from in[0], and twice each row.
Tensors running_sums(const Tensors& in) {
  return sb::scan(
      [](const Tensor& sum, const Tensor& row) {
        const Tensor next = sum + row;
        return Tensors{next, next * 1.0, row * 2.0};
      },
      {in[0]}, {in[1]});
}

TEST_CASE("scan carries what its function gives, and stacks the rest") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensors inputs{make({2}, {100, 0}), make({3, 2}, {1, 2, 3, 4, 5, 6})};
  const std::string text = run_all_ways(running_sums, inputs);
  const std::string device = to_string(inputs[0].device());
  if (make.has_data()) {
    CHECK(text == str_cat("float32[2] on ", device, " {109, 12}; float32[3, 2] on ", device,
                          " {101, 2, 104, 6, 109, 12}; float32[3, 2] on ", device,
                          " {2, 4, 6, 8, 10, 12}"));
  } else {
    CHECK(text == str_cat("float32[2] on ", device, "; float32[3, 2] on ", device,
                          "; float32[3, 2] on ", device));
  }
}

TEST_CASE("a graph of scan takes other numbers of slices") {
  const Graph g = trace(running_sums, {tensor_of({2}, {0, 0}), tensor_of({2, 2}, {1, 2, 3, 4})});
  CHECK_THAT(g.to_string(), Contains("scan"));
  const Tensors longer =
      g.run({tensor_of({2}, {0, 0}), tensor_of({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1})});
  CHECK(text_of(longer[0]) == text_of(tensor_of({2}, {4, 4})));
}

// What is carried has the strides of as many trips as there are slices.
TEST_CASE("a carry that is transposed at each step has its last strides on fake tensors too") {
  const auto transposed = [](const Tensor& carry, const Tensor& row) {
    return Tensors{t(carry) + sum(row)};
  };
  const auto twice_then_kept = [](const Tensor& carry, const Tensor& row) {
    const Tensor next = carry + sum(row);
    return Tensors{next.stride(0) == 1 ? next : t(next)};
  };
  const auto carries_two = [](const Tensor& a, const Tensor& b, const Tensor& row) {
    return Tensors{t(a) + sum(row), b + 1.0};
  };
  for (int64_t n = 1; n <= 5; ++n) {
    const auto strides_of = [&](const auto& from) {
      const Tensor x = from(ones({4})), rows = from(ones({n, 2}));
      const Tensor square = view(x, {2, 2});
      std::string text;
      for (const Tensors& results :
           {sb::scan(transposed, {square}, {rows}), sb::scan(twice_then_kept, {square}, {rows}),
            sb::scan(carries_two, {square, t(square)}, {rows})})
        for (const Tensor& result : results) {
          for (const int64_t stride : result.strides()) text += str_cat(stride, " ");
          text += "; ";
        }
      return text;
    };
    INFO(n);
    FakeTensorMode fake;
    CHECK(strides_of([&](const Tensor& real) { return fake.from_tensor(real); }) ==
          strides_of([](const Tensor& real) { return real; }));
  }
}

TEST_CASE("a carry whose strides go on changing needs a known number of steps") {
  const auto env = ShapeEnv::create();
  FakeTensorMode fake({.shape_env = env});
  FromTensorOptions rows_vary;
  rows_vary.dims = {{.kind = DimDynamic::Dynamic}, {.kind = DimDynamic::Static}};
  const Tensor rows = fake.from_tensor(ones({4, 2}), rows_vary);
  const Tensor square = fake.from_tensor(ones({2, 2}), {.static_shapes = true});
  const auto add_row = [](const Tensor& carry, const Tensor& row) { return carry + sum(row); };
  CHECK_THROWS_WITH(
      sb::scan([&](const Tensor& c, const Tensor& row) { return Tensors{t(add_row(c, row))}; },
               {square}, {rows}),
      Contains("higher_order::scan: combine_fn: in a fake mode: what it carries has other strides "
               "from step to step; expected a number of steps that is known, got s0"));
  // Strides that settle say nothing of it.
  const Tensor kept = sb::scan(
      [&](const Tensor& c, const Tensor& row) {
        const Tensor next = add_row(c, row);
        return Tensors{next.stride(0) == 1 ? next : t(next)};
      },
      {square}, {rows})[0];
  CHECK(kept.stride(0) == 1);
}

TEST_CASE(
    "of no slices scan gives the initial carry and empty tensors, and calls nothing for long") {
  const auto f = [](const Tensor& c, const Tensor& row) { return Tensors{c + row, cat({c, row})}; };
  FakeTensorMode fake;
  for (const bool is_fake : {false, true}) {
    const auto make = [&](const Tensor& t) { return is_fake ? fake.from_tensor(t) : t; };
    const Tensor init = make(ones({2})), none = make(ones({0, 2}));
    const Tensors results = sb::scan(f, {init}, {none});
    CHECK(results[0].sizes() == test::Sizes{2});
    CHECK_FALSE(results[0].is_alias_of(init));
    CHECK(results[1].sizes() == test::Sizes{0, 4});
  }
  // A graph that was made of three slices takes none.
  const Graph g = trace([&](const Tensors& in) { return sb::scan(f, {in[0]}, {in[1]}); },
                        {ones({2}), ones({3, 2})});
  const Tensors results = g.run({ones({2}), ones({0, 2})});
  CHECK(values_of(results[0]) == std::vector<double>{1, 1});
  CHECK(results[1].sizes() == test::Sizes{0, 4});
}

TEST_CASE("to know the shapes of no slices its function runs on copies") {
  const Tensor init = ones({2}), kept = ones({2});
  const auto writes = [&](const Tensor& c, const Tensor& row) {
    add_(kept, ones({2}));
    return Tensors{add_(c, ones({2})) + row, c * 2};
  };
  sb::scan(writes, {init}, {ones({0, 2})});
  CHECK(values_of(init) == std::vector<double>{1, 1});
  CHECK(values_of(kept) == std::vector<double>{1, 1});
}

TEST_CASE("scan takes slices along any dimension, and stacks along it") {
  const Tensor x = test::tensor_of({2, 3}, {1, 2, 3, 10, 20, 30});
  const auto f = [](const Tensor& c, const Tensor& column) {
    return Tensors{c + column, c + column};
  };
  Tensors r = sb::scan(f, {zeros({2})}, {x}, {}, /*reverse=*/false, 1);
  CHECK(values_of(r[0]) == std::vector<double>{6, 60});
  CHECK(values_of(r[1]) == std::vector<double>{1, 3, 6, 10, 30, 60});
  r = sb::scan(f, {zeros({2})}, {x}, {}, /*reverse=*/true, -1);
  CHECK(values_of(r[1]) == std::vector<double>{6, 5, 3, 60, 50, 30});
}

TEST_CASE("scan_length calls its function so many times without slices") {
  const auto f = [](const Tensor& c, const Tensor& by) { return Tensors{c * by, c + 1}; };
  const Tensors r = sb::scan_length(f, {ones({1})}, 3, {full({1}, 2)});
  CHECK(values_of(r[0]) == std::vector<double>{8});
  CHECK(values_of(r[1]) == std::vector<double>{2, 3, 5});
  CHECK(sb::scan_length(f, {ones({1})}, 0, {ones({1})})[1].sizes() == test::Sizes{0, 1});
  CHECK_THROWS_AS(sb::scan_length(f, {ones({1})}, -1, {ones({1})}), ValueError);
}

TEST_CASE("scan refuses what it cannot carry or slice, naming it") {
  const auto keep = [](const Tensors& t) { return Tensors{t[0]}; };
  const Tensor x = ones({2, 2});
  CHECK_THROWS_WITH(sb::scan(keep, {ones({2})}, {}), Contains("higher_order::scan: xs: expected at "
                                                              "least one tensor, got none"));
  CHECK_THROWS_WITH(sb::scan(keep, {ones({2})}, {ones({})}),
                    Contains("expected a first dimension"));
  CHECK_THROWS_WITH(sb::scan(keep, {ones({2})}, {x, ones({3, 2})}),
                    Contains("item 1: expected a first dimension of 2"));
  CHECK_THROWS_WITH(sb::scan([](const Tensors&) { return Tensors{}; }, {ones({2})}, {x}),
                    Contains("combine_fn: expected 1 carried tensors at least, got 0 results"));
  CHECK_THROWS_WITH(
      sb::scan([](const Tensors& t) { return Tensors{unsqueeze(t[0], 0)}; }, {ones({2})}, {x}),
      Contains("combine_fn: result 0: expected float32[2]") && Contains("as of init"));
}

}  // namespace
}  // namespace sb::test
