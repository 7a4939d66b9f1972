#include "switchboard/transforms/control_flow/map.h"

#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Each row of in[0] times in[1], and its sum.
Tensors rows_times(const Tensors& in) {
  return sb::map(
      [](const Tensor& row, const Tensor& w) {
        return Tensors{row * w, sum(row)};
      },
      {in[0]}, {in[1]});
}

TEST_CASE("map calls the function for each slice and stacks what it gives") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensors inputs{make({3, 2}, {1, 2, 3, 4, 5, 6}), make({2}, {10, 100})};
  const std::string text = run_all_ways(rows_times, inputs);
  const std::string device = to_string(inputs[0].device());
  if (make.has_data()) {
    CHECK(text == str_cat("float32[3, 2] on ", device,
                          " {10, 200, 30, 400, 50, 600}; float32[3] on ", device, " {3, 7, 11}"));
  } else {
    CHECK(text == str_cat("float32[3, 2] on ", device, "; float32[3] on ", device));
  }
}

TEST_CASE("map takes slices of several tensors at once, in order") {
  const Maker make(GENERATE(from_range(all_places())));
  const Program f = [](const Tensors& in) {
    return sb::map([](const Tensors& t) { return Tensors{t[0] - t[1]}; }, in);
  };
  const std::string text =
      run_all_ways(f, {make({2}, {5, 6}), transpose(make({3, 2}, {0, 1, 2, 3, 4, 5}), 0, 1)});
  if (make.has_data()) CHECK_THAT(text, Contains("[2, 3]") && Contains("{5, 3, 1, 5, 3, 1}"));
}

TEST_CASE("the function of map may give nothing, and slices as they came") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensor x = make({2, 2}, {1, 2, 3, 4});
  CHECK(run_all_ways(
            [](const Tensors& in) { return sb::map([](const Tensors&) { return Tensors{}; }, in); },
            {x})
            .empty());
  const std::string text = run_all_ways(
      [](const Tensors& in) { return sb::map([](const Tensor& row) { return row; }, in); }, {x});
  CHECK(text == text_of(x));
}

TEST_CASE("a graph of map has the function once, and takes other numbers of slices") {
  const Graph g = trace(rows_times, {tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}), tensor_of({2}, {1, 2})},
                        {.input_names = {"x", "w"}});
  CHECK(g.to_string() ==
        "graph(x: float32[3, 2], w: float32[2]):\n"
        "  map_impl = map_impl(body_graph, [x], [w])\n"
        "  getitem = map_impl[0]\n"
        "  getitem_1 = map_impl[1]\n"
        "  return (getitem, getitem_1)\n"
        "\n"
        "body_graph(arg0: float32[2], arg1: float32[2]):\n"
        "  mul = aten::mul.Tensor(arg0, arg1)\n"
        "  sum = aten::sum(arg0)\n"
        "  return (mul, sum)\n");
  CHECK(text_of(g.run({tensor_of({1, 2}, {7, 8}), tensor_of({2}, {1, 0})})) ==
        "float32[1, 2] on cpu {7, 0}; float32[1] on cpu {15}");
}

TEST_CASE("map on fake tensors calls the function once, however many slices there are") {
  const Maker make(Place::Fake);
  int calls = 0;
  const Tensors results = sb::map(
      [&](const Tensor& x) {
        ++calls;
        return x < 1;
      },
      {expand(make({1}, {1}), {1000})});
  CHECK(calls == 1);
  CHECK(text_of(results) == "bool[1000] on cuda:0");
  CHECK(results[0].is_contiguous());
}

TEST_CASE("what the function of map gives must be the same for each slice") {
  const Tensor x = tensor_of({2}, {1, 2});
  int slice = 0;
  const auto run = [&](std::function<Tensors(int, const Tensor&)> f) {
    slice = 0;
    return message([&] { sb::map([&](const Tensor& t) { return f(slice++, t); }, {x}); });
  };
  const std::string name = "RuntimeError: higher_order::map_impl: f: ";
  CHECK(run([](int i, const Tensor& t) { return Tensors(i + 1, t); }) ==
        str_cat(name, "expected 1 results, as many as the first slice, got 2"));
  CHECK(run([](int i, const Tensor& t) { return Tensors{i ? t < 1 : t}; }) ==
        str_cat(name,
                "result 0: expected float32[] on cpu, as of the first slice, got bool[] on "
                "cpu"));
  CHECK(run([](int i, const Tensor& t) { return Tensors{i ? unsqueeze(t, 0) : t}; }) ==
        str_cat(name,
                "result 0: expected float32[] on cpu, as of the first slice, got float32[1] "
                "on cpu"));
}

TEST_CASE(
    "what map stacks has the strides of a stack on fake tensors, too, in channels-last order") {
  const auto in_channels_last = [](const Tensors& in) {
    return sb::map(
        [](const Tensor& row) {
          return Tensors{clone(permute(row, {0, 3, 1, 2}), MemoryFormat::Preserve)};
        },
        in);
  };
  const Tensor x = zeros({3, 2, 2, 2, 4});
  const Tensor eager = in_channels_last({x})[0];
  CHECK(DimVector(eager.strides().begin(), eager.strides().end()) == DimVector{32, 16, 1, 8, 4});
  FakeTensorMode fake;
  const Tensor y = fake.from_tensor(x);
  const FakeTensorModeGuard active(fake);
  CHECK(in_channels_last({y})[0].strides() == eager.strides());
}

TEST_CASE("wrong arguments of map are errors that name them, eager, traced and fake") {
  const Tensor x = tensor_of({2}, {1, 2});
  const IValue f = tensor_callable("f", [](const Tensors& in) { return in[0] + 1; });
  const Tensors none;
  const auto check = [&](std::vector<IValue> arguments, const std::string& expected) {
    const auto call = [&](const Tensors&) {
      map_impl_op()(arguments);
      return Tensors{};
    };
    CHECK(message([&] { call({}); }) == expected);
    CHECK(message([&] { trace(call, {}); }) == expected);
    FakeTensorMode fake;
    FakeTensorModeGuard active(fake);
    CHECK(message([&] { call({}); }) == expected);
  };
  const std::string name = "higher_order::map_impl: ";
  check({f, Tensors{x}}, str_cat("TypeError: ", name, "expected 3 arguments, got 2"));
  check({1, Tensors{x}, none}, str_cat("TypeError: ", name, "f: expected a Callable, got Int"));
  check({f, none, none},
        str_cat("RuntimeError: ", name, "xs: expected at least one tensor, got none"));
  check({f, x, none}, str_cat("TypeError: ", name, "xs: expected a list of tensors, got Tensor"));
  check({f, std::vector<IValue>{x, 1}, none},
        str_cat("TypeError: ", name, "xs: item 1: expected a tensor, got Int"));
  check({f, Tensors{Tensor()}, none},
        str_cat("RuntimeError: ", name, "xs: item 0: expected a tensor, got an undefined one"));
  check({f, Tensors{x, tensor_of({}, {1})}, none},
        str_cat("RuntimeError: ", name,
                "xs: item 1: expected a first dimension, got float32[] on cpu"));
  check({f, Tensors{zeros({0, 2})}, none},
        str_cat("RuntimeError: ", name,
                "xs: item 0: expected a first dimension that is not 0, got float32[0, 2] on cpu"));
  check({f, Tensors{x, tensor_of({3}, {1, 2, 3})}, none},
        str_cat("RuntimeError: ", name,
                "xs: item 1: expected a first dimension of 2, as that of item 0, got float32[3] on "
                "cpu"));
  check({f, Tensors{x}, std::vector<IValue>{"x"}},
        str_cat("TypeError: ", name, "pos_args: item 0: expected a tensor, got String"));
  CHECK(message([&] { sb::map([](const Tensor& a, const Tensor& b) { return a + b; }, {x}); }) ==
        "TypeError: higher_order::map_impl: f: the function takes 2 tensors, got 1");
}

TEST_CASE("an exception for a later slice passes through and leaves the thread as it was") {
  int slice = 0;
  const auto f = [&](const Tensors& in) {
    return sb::map(
        [&](const Tensor& t) {
          if (slice++ == 2) throw ValueError("the third slice");
          return t + 1;
        },
        in);
  };
  const Tensors inputs{tensor_of({4}, {1, 2, 3, 4})};
  CHECK(message([&] { f(inputs); }) == "ValueError: the third slice");
  slice = 0;
  CHECK(message([&] { trace(f, inputs); }) == "ValueError: the third slice");
}

TEST_CASE("modes that only watch count what f calls for all slices") {
  CountingMode counting;
  {
    ModeGuard guard(&counting);
    sb::map([](const Tensor& t) { return t + 1; }, {tensor_of({3}, {1, 2, 3})});
  }
  CHECK(counting.counts() == std::vector<std::pair<std::string, int64_t>>{
                                 {"aten::add.Scalar", 3}, {"higher_order::map_impl", 1}});
}

}  // namespace
}  // namespace sb::test
