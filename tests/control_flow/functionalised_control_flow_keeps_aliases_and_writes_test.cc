// Functionalised, what a branch writes to its operands is written to them, and a result that is an
// operand, or a view of one, stays that; where only the data tell, a program may read both, and
// write to one only where it does not read the other.

#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/gradient_cases.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

enum class Route { Key, Mode };
Program functionalized(Route route, const Program& f) {
  return route == Route::Key ? functionalize(f) : FunctionalMode().functionalize(f);
}

// What a program gives, which of its results share memory with an input, and what inputs are in the
// end.
std::string run(const Program& program, Tensors inputs, bool aliases = true) {
  for (Tensor& t : inputs) t = clone(t);
  const Tensors results = program(inputs);
  std::string text = text_of(results);
  for (size_t r = 0; aliases && r < results.size(); ++r) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (results[r].is_same(inputs[i]))
        text += str_cat(" [", r, " is input ", i, "]");
      else if (results[r].is_alias_of(inputs[i]))
        text += str_cat(" [", r, " shares input ", i, "]");
    }
  }
  return str_cat(text, " | ", text_of(inputs));
}

Tensors with_pred(bool pred) {
  return {tensor_of({}, {pred ? 1.0 : 0.0}, DType::Bool), tensor_of({2, 2}, {1, 2, 3, 4})};
}

// Eager functionalised runs, and graphs of them on both ways.
void check(const Program& program) {
  for (const Route route : {Route::Key, Route::Mode}) {
    const Program functional = functionalized(route, program);
    for (const bool pred : {false, true}) {
      INFO("pred " << pred);
      CHECK(run(functional, with_pred(pred)) == run(program, with_pred(pred)));
      Tensors inputs = with_pred(pred);
      const Graph graph = trace(functional, inputs);
      for (const bool other : {false, true}) {
        const Program again = [&](const Tensors& in) { return graph.run(in); };
        CHECK(run(again, with_pred(other), false) == run(program, with_pred(other), false));
      }
    }
  }
}

const auto same = [](const Tensor& t) { return t; };
const auto row = [](const Tensor& t) { return select(t, 0, 1); };
const auto twice = [](const Tensor& t) { return t * 2; };

TEST_CASE("a branch that writes to one of two operands that share memory") {
  const auto add_to_first = [](const Tensor& a, const Tensor& b) {
    a += 1;
    return b * 2;
  };
  check([&](const Tensors& in) {  // one tensor twice
    const Tensor y = in[1] * 1;
    return Tensors{cond(in[0], add_to_first, add_to_first, {y, y})[0], y};
  });
  const Program parts = [&](const Tensors& in) {
    const Tensor y = in[1] * 1;
    return Tensors{cond(in[0], add_to_first, add_to_first, {select(y, 0, 1), select(y, 1, 1)})[0],
                   y};
  };
  for (const Route route : {Route::Key, Route::Mode}) {
    const Program functional = functionalized(route, parts);
    CHECK(run(functional, with_pred(true)) == run(parts, with_pred(true)));
    CHECK_THROWS_WITH(
        trace(functional, with_pred(true)),
        Contains("higher_order::cond: true_fn: under functionalization: it writes to argument 0") &&
            Contains("which shares memory with"));
  }
}

TEST_CASE("a result that is an operand, or a view of one, in both branches is that") {
  check([](const Tensors& in) { return cond(in[0], same, same, {in[1]}); });
  check([](const Tensors& in) { return cond(in[0], row, row, {in[1]}); });
  check([](const Tensors& in) {
    const Tensors r = cond(in[0], row, row, {in[1]});
    r[0] += 10;
    return Tensors{r[0], in[1] * 1};
  });
  check([](const Tensors& in) {
    const Tensors r = cond(in[0], row, row, {in[1]});
    in[1] *= 3;
    return Tensors{r[0] * 1};
  });
}

TEST_CASE("a result that is an operand in one branch") {
  check([](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const Tensor r = cond(in[0], same, twice, {y})[0];
    return Tensors{r + y};
  });
  check([](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const Tensor r =
        switch_on(tensor_of({}, {1}, DType::Int64), branches(twice, same, twice), {y})[0];
    return Tensors{r + y};
  });
  // Run, it is known which.
  const Program written = [](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const Tensor r = cond(in[0], same, twice, {y})[0];
    r += 1;
    return Tensors{r + y};
  };
  for (const bool pred : {false, true})
    CHECK(run(functionalize(written), with_pred(pred)) == run(written, with_pred(pred)));
  CHECK_THAT(message([&] { trace(functionalize(written), with_pred(true)); }),
             Contains("NotImplementedError: higher_order::cond: under functionalization: only the "
                      "data tell whether result 0 shares memory with"));
  // The write alone is none of its business.
  check([](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const Tensor r = cond(in[0], same, twice, {y})[0];
    r += 1;
    return Tensors{r * 1};
  });
}

TEST_CASE("a result that is what a function has captured") {
  check([](const Tensors& in) {
    const Tensor made = in[1] * 2;
    made += 1;
    const Tensor r = cond(in[0], [&](const Tensor&) { return made; }, twice, {in[1]})[0];
    return Tensors{r + made};
  });
}

TEST_CASE("loops that give what they were given") {
  check([](const Tensors& in) {
    const Tensor y = in[1] * 1;
    return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                      [](const Tensor& i, const Tensor& t) {
                        return Tensors{i + 1, t};
                      },
                      {select(select(y, 0, 0), 0, 0), y});
  });
  check([](const Tensors& in) { return sb::map(same, {in[1]}); });
}

TEST_CASE("a loop that ran gives the operand itself, where it carried that round") {
  const Tensor n = tensor_of({}, {0});
  const auto loop = [](int64_t trips, bool swap) -> Program {
    return [trips, swap](const Tensors& in) {
      const Tensors r = while_loop([&](const Tensor& i, const Tensor&,
                                       const Tensor&) { return i < static_cast<double>(trips); },
                                   [&](const Tensor& i, const Tensor& a, const Tensor& b) {
                                     return swap ? Tensors{i + 1, b, a} : Tensors{i + 1, a, b * 2};
                                   },
                                   {in[0], in[1], in[2]});
      r[1] += 1;
      return r;
    };
  };
  for (const int64_t trips : {0, 1, 2, 3}) {
    for (const bool swap : {false, true}) {
      const Program program = loop(trips, swap);
      const Tensors inputs{n, tensor_of({2}, {1, 2}), tensor_of({2}, {3, 4})};
      for (const Route route : {Route::Key, Route::Mode})
        CHECK(run(functionalized(route, program), inputs) == run(program, inputs));
    }
  }
}

TEST_CASE("a branch that writes to its operand") {
  check([](const Tensors& in) {
    return Tensors{cond(in[0], [](const Tensor& t) { return t += 1; }, twice, {in[1]})[0] * 1};
  });
  check([](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const Tensor r = cond(in[0], twice,
                          [](const Tensor& t) {
                            select(t, 0, 0) += 5;
                            return t * 3;
                          },
                          {y})[0];
    return Tensors{r, y * 1, select(y, 0, 0) * 2};
  });
  check([](const Tensors& in) {
    return sb::map(
        [&](const Tensor& t) {
          const Tensor own = t * 2;
          cond(in[0],
               [](const Tensor& u) {
                 u += 1;
                 return u * 1;
               },
               twice, {own});
          return own;
        },
        {in[1]});
  });
}

// Traces a program on some inputs and runs the graph on all of them.
void check_graphs_of(const Program& program, const Program& traced) {
  for (const Tensors& inputs : different_inputs()) {
    const Graph graph = trace(traced, as_leaves(inputs));
    graph.lint();
    for (const Tensors& others : different_inputs())
      check_close(graph.run(others), program(as_leaves(others)));
  }
}

TEST_CASE("gradients of functionalised programs") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    check_graphs_of(gradients_of(c.program), gradients_of(functionalize(c.program)));
  }
}

}  // namespace
}  // namespace sb::test
