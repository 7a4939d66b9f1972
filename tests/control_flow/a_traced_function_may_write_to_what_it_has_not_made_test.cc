// Functions that operators take may write to their operands and to what they capture: a graph does
// the same when it runs, and a trace only what the program does.

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// What a program gives and what its inputs are in the end.
std::string run(const Program& program, Tensors inputs) {
  for (Tensor& t : inputs) t = clone(t);
  const std::string results = text_of(program(inputs));
  return str_cat(results, " | ", text_of(inputs));
}

// The trace does what the program does, and the graph of it does it to other inputs.
void check(const Program& program, const Tensors& inputs, const Tensors& others) {
  const Program tracing = [&](const Tensors& in) {
    Tensors results;
    trace([&](const Tensors& given) { return results = program(given); }, in);
    return results;
  };
  CHECK(run(tracing, inputs) == run(program, inputs));
  Tensors copies = inputs;
  for (Tensor& t : copies) t = clone(t);
  const Graph graph = trace(program, copies);
  graph.lint();
  const Program again = [&](const Tensors& in) { return graph.run(in); };
  CHECK(run(again, inputs) == run(program, inputs));
  CHECK(run(again, others) == run(program, others));
}

Tensors with_pred(bool pred, Numbers x) {
  return {tensor_of({}, {pred ? 1.0 : 0.0}, DType::Bool), tensor_of({2}, x)};
}

TEST_CASE("a branch that writes to its operand, to a view of it, or to what it captures") {
  const bool pred = GENERATE(false, true);
  const Tensors inputs = with_pred(pred, {1, 2}), others = with_pred(!pred, {5, 7});
  const auto double_it = [](const Tensor& t) { return t * 2; };
  check(
      [&](const Tensors& in) {
        return cond(in[0], [](const Tensor& t) { return t += 1; }, double_it, {in[1]});
      },
      inputs, others);
  check(
      [&](const Tensors& in) {
        const Tensors r = cond(in[0], double_it,
                               [](const Tensor& t) {
                                 select(t, 0, 0) += 1;
                                 return t * 1;
                               },
                               {in[1]});
        return Tensors{r[0], in[1] * 3};
      },
      inputs, others);
  check(
      [&](const Tensors& in) {
        const Tensor made = in[1] * 2, view = select(made, 0, 1);
        const Tensors r = cond(
            in[0],
            [&](const Tensor& t) {
              made += t;
              return made * 1;
            },
            [&](const Tensor& t) {
              view += 10;
              return t * view;
            },
            {in[1]});
        return Tensors{r[0], made * 1, view * 1};
      },
      inputs, others);
}

TEST_CASE("a function in a function that writes to what the outer one was given") {
  const bool pred = GENERATE(false, true);
  check(
      [](const Tensors& in) {
        return sb::map(
            [&](const Tensor& row) {
              return cond(
                  in[0],
                  [&](const Tensor& t) {
                    in[1] += 1;
                    return t += 2;
                  },
                  [](const Tensor& t) { return t * 1; }, {row});
            },
            {in[1]});
      },
      with_pred(pred, {1, 2}), with_pred(!pred, {5, 7}));
}

TEST_CASE("loops that write to slices, to what is carried, and to what stays") {
  const Tensors inputs{tensor_of({}, {0}), tensor_of({2}, {1, 2})},
      others{tensor_of({}, {5}), tensor_of({2}, {3, 4})};
  check([](const Tensors& in) { return sb::map([](const Tensor& t) { return t += 1; }, {in[1]}); },
        inputs, others);
  check(
      [](const Tensors& in) {
        return while_loop([](const Tensor& i, const Tensor&) { return i < 10; },
                          [](const Tensor& i, const Tensor& x) {
                            return Tensors{i + 3, x += 1};
                          },
                          in);
      },
      inputs, others);
  check(
      [](const Tensors& in) {
        return scan(
            [](const Tensor& carry, const Tensor& x, const Tensor& total) {
              total += x;
              x *= 2;
              return Tensors{carry + total, x * 1};
            },
            {in[0] * 1}, {in[1]}, {in[0]});
      },
      inputs, others);
}

TEST_CASE("a call that writes is no dead code") {
  const Program program = [](const Tensors& in) {
    sb::map([](const Tensor& t) { return t += 1; }, {in[1]});
    return Tensors{in[1] * 2};
  };
  const Tensors inputs = with_pred(true, {1, 2});
  Graph graph = trace(program, {clone(inputs[0]), clone(inputs[1])});
  graph.eliminate_dead_code();
  CHECK(run([&](const Tensors& in) { return graph.run(in); }, inputs) == run(program, inputs));
}

TEST_CASE("what a trace writes to real memory for a branch that is not taken is undone") {
  const Tensor outside = tensor_of({1}, {7});
  const Program f = [&](const Tensors& in) {
    return cond(
        in[0], [](const Tensor& t) { return t + 1; }, [&](const Tensor&) { return outside += 1; },
        {select(in[1], 0, 0)});
  };
  const Program same_sizes = [&](const Tensors& in) {
    return cond(
        in[0], [](const Tensor& t) { return t + 1; },
        [&](const Tensor& t) {
          outside += 1;
          return t * 1;
        },
        {in[1]});
  };
  const Graph graph = trace(same_sizes, with_pred(true, {1, 2}));
  CHECK(numbers_in(outside) == Numbers{7});
  graph.run(with_pred(false, {1, 2}));
  CHECK(numbers_in(outside) == Numbers{8});
  // The same where the function throws, or gives what it may not.
  CHECK_THAT(message([&] { trace(f, with_pred(true, {1, 2})); }), Contains("false_fn: result 0"));
  CHECK(numbers_in(outside) == Numbers{8});
}

}  // namespace
}  // namespace sb::test
