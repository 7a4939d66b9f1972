// while_loop_stack_output gives what is carried after each trip, in every layer.

#include "switchboard/ops/views/cat.h"
#include "switchboard/tests/control_flow/gradient_cases.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensors program(const Tensors& in) {
  const Tensor none = sum(in[0]) * 0;
  return while_loop_stack_output(
      [](const Tensor& i, const Tensor&, const Tensor&) { return i < 3; },
      [](const Tensor& i, const Tensor& x, const Tensor& w) {
        return Tensors{i + 1, x * w};
      },
      {none, in[0]}, {in[1]});
}
// The same, written out.
Tensors plain(const Tensors& in) {
  const Tensor none = sum(in[0]) * 0, w = in[1];
  const Tensor one = in[0] * w, two = one * w, three = two * w;
  return {stack({none + 1, none + 2, none + 3}, 0), stack({one, two, three}, 0)};
}

TEST_CASE("a row for each trip") {
  CHECK(text_of(program({tensor_of({2}, {1, 2}), tensor_of({2}, {2, 3})})) ==
        "float32[3] on cpu {1, 2, 3}; float32[3, 2] on cpu {2, 6, 4, 18, 8, 54}");
}

TEST_CASE("of no trip, the carried inputs as one row, copied") {
  const Tensor x = tensor_of({2}, {1, 2});
  const Tensor rows = while_loop_stack_output([](const Tensor& t) { return sum(t) > 100; },
                                              [](const Tensor& t) { return t + 1; }, {x})[0];
  CHECK(text_of(rows) == "float32[1, 2] on cpu {1, 2}");
  CHECK_FALSE(rows.is_alias_of(x));
}

TEST_CASE("traced and functionalised") {
  const Tensors inputs = different_inputs()[0];
  CHECK(run_all_ways(program, inputs) == text_of(plain(inputs)));
  CHECK_THAT(trace(program, inputs).to_string(),
             Contains("while_loop_stack_output(while_loop_cond_graph, while_loop_body_graph"));
  check_close(functionalize(program)(inputs), plain(inputs));
  check_close(trace(functionalize(program), inputs).run(inputs), plain(inputs));
}

TEST_CASE("its gradients are those of the trips, eager, functionalised and traced") {
  const Tensors inputs = different_inputs()[0], leaves = as_leaves(inputs);
  for (const int order : {1, 2}) {
    const Tensors expected = gradients_of(plain, order)(leaves);
    check_close(gradients_of(program, order)(leaves), expected);
    check_close(gradients_of(functionalize(program), order)(leaves), expected);
    check_close(trace(gradients_of(program, order), leaves).run(inputs), expected);
  }
}

TEST_CASE("on fake tensors the number of rows is a symbol, or an error without a ShapeEnv") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(tensor_of({2}, {1, 2}));
  const auto loop = [](const Tensor& t) {
    return while_loop_stack_output([](const Tensor& y) { return sum(y) < 100; },
                                   [](const Tensor& y) { return y * 2; }, {t})[0];
  };
  CHECK_THAT(message([&] { loop(x); }),
             Contains("higher_order::while_loop_stack_output: the number of trips"));
  FakeTensorMode symbolic({.shape_env = ShapeEnv::create()});
  const Tensor given = symbolic.from_tensor(tensor_of({2}, {1, 2}));
  const Tensor rows = loop(given);
  CHECK(rows.sym_sizes()[0].is_symbolic());
  CHECK(rows.sym_size(1).to_string() == given.sym_size(0).to_string());
}

}  // namespace
}  // namespace sb::test
