// In a fake mode with symbols the branches of a cond may give tensors of different sizes.

#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::test {
namespace {

TEST_CASE("where sizes may be symbols, those in which functions differ become one") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor pred = fake.from_tensor(tensor_of({}, {1}, DType::Bool));
  const Tensor x = fake.from_tensor(tensor_of({2, 2}, {1, 2, 3, 4}), {.static_shapes = true});
  const auto rows = [](int64_t n) {
    return [n](const Tensor& t) { return cat(std::vector<Tensor>(static_cast<size_t>(n), t)); };
  };
  const auto y = cond(pred, rows(2), rows(3), {x})[0];
  CHECK(y.describe() == "float32[u0, 2] on cpu");
  const SymbolInfo u0 = *fake.shape_env()->symbol("u0");
  CHECK((u0.range.low == 4 && u0.range.high == 6));
  // One may be a symbol itself.
  const Tensor some = fake.from_tensor(tensor_of({3}, {1, 2, 3}),
                                       {.source = "some", .dims = {{DimDynamic::Dynamic, 2, 9}}});
  const auto five = [](const Tensor& t) { return new_zeros(t, {5}); };
  const auto none = [](const Tensor& t) { return new_zeros(t, {0}); };
  const auto size_of = [&](auto f, auto g) {
    const std::string name = cond(pred, f, g, {some})[0].sym_size(0).to_string();
    const SymbolInfo size = *fake.shape_env()->symbol(name);
    return std::pair(size.range.low, size.range.high);
  };
  const auto itself = [](const Tensor& t) { return t + 1; };
  CHECK(size_of(itself, five) == std::pair<int64_t, int64_t>(2, 9));
  CHECK(size_of(itself, none) == std::pair<int64_t, int64_t>(0, 9));
  CHECK(cond(pred, rows(2),
             [](const Tensor& t) {
               return cat({t, t + 1});
             },
             {x})[0]
            .describe() == "float32[4, 2] on cpu");

  const auto error = [&](auto no) {
    return message([&] { cond(pred, [](const Tensor& t) { return t + 1; }, no, {x}); });
  };
  CHECK(error([](const Tensor& t) { return sum(t); }) ==
        "RuntimeError: higher_order::cond: false_fn: result 0: expected float32[2, 2] on cpu, as "
        "of true_fn, or other sizes, got float32[] on cpu; on fake tensors, where only data tell "
        "what higher_order::cond gives");
  CHECK(error([](const Tensor& t) {
          return transpose(cat({t, t}), 0, 1);
        }) ==
        "RuntimeError: higher_order::cond: false_fn: result 0: expected dimensions in memory in "
        "the order of true_fn, without gaps, as sizes differ and fake tensors lie in one way; got "
        "float32[2, 4] on cpu with strides [1, 2]; on fake tensors, where only data tell what "
        "higher_order::cond gives");

  // A graph takes either.
  const Program program = [&](const Tensors& in) { return cond(in[0], rows(1), rows(3), {in[1]}); };
  const Graph graph = trace(program, {pred, x});
  const auto sizes_of = [&](double choice, int64_t n) {
    const Numbers ones(static_cast<size_t>(2 * n), 1);
    return graph.run({tensor_of({}, {choice}, DType::Bool), tensor_of({n, 2}, ones)})[0].describe();
  };
  CHECK(sizes_of(1, 2) == "float32[2, 2] on cpu");
  CHECK(sizes_of(0, 2) == "float32[6, 2] on cpu");
  CHECK_THAT(message([&] { sizes_of(0, 3); }),
             Catch::Contains("gives u4 = 9; the program rests on u4 <= 6"));
}

}  // namespace
}  // namespace sb::test
