// Control flow in functionalised programs.

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

enum class Route { Key, Mode };

Program functionalized(Route route, const Program& f) {
  return route == Route::Key ? functionalize(f) : FunctionalMode().functionalize(f);
}

// Writes to what it makes, inside and outside of the functions, and to its input in[1].
Tensors mutating(const Tensors& in) {
  in[1] += 1;
  const Tensors r = cond(
      in[0],
      [](const Tensor& x) {
        const Tensor y = x * 2;
        select(y, 0, 0) += 100;
        return y;
      },
      [](const Tensor& x) {
        const Tensor y = -x;
        y += 1;
        return y;
      },
      {in[1]});
  r[0] += 1;
  return r;
}

TEST_CASE("a functionalised program with cond gives what the program gives, and writes the same") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const bool pred = GENERATE(true, false);
  const Maker make(GENERATE(from_range(all_places())));
  const auto run = [&](const Program& f) {
    const Tensors inputs{make.pred(pred), make({2}, {1, 2})};
    return str_cat(text_of(f(inputs)), "; ", text_of(inputs[1]));
  };
  CHECK(run(functionalized(route, mutating)) == run(mutating));
}

TEST_CASE("the graph of a functionalised program has functions that mutate nothing") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Program f = [](const Tensors& in) {
    return cond(
        in[0],
        [](const Tensor& x) {
          const Tensor y = x * 2;
          y += 1;
          return y;
        },
        [](const Tensor& x) { return -x; }, {in[1]});
  };
  const Tensors inputs{tensor_of({}, {1}, DType::Bool), tensor_of({1}, {5})};
  const Graph g = trace(functionalized(route, f), inputs);
  g.lint();
  CHECK(g.to_string() ==
        "graph(arg0: bool[], arg1: float32[1]):\n"
        "  cond = cond(arg0, true_graph, false_graph, [arg1])\n"
        "  getitem = cond[0]\n"
        "  return (getitem,)\n"
        "\n"
        "true_graph(arg0: float32[1]):\n"
        "  mul = aten::mul.Scalar(arg0, 2)\n"
        "  add = aten::add.Scalar(mul, 1)\n"
        "  return (add,)\n"
        "\n"
        "false_graph(arg0: float32[1]):\n"
        "  neg = aten::neg(arg0)\n"
        "  return (neg,)\n");
  CHECK(text_of(g.run(inputs)) == "float32[1] on cpu {11}");
  CHECK(text_of(g.run({tensor_of({}, {0}, DType::Bool), inputs[1]})) == "float32[1] on cpu {-5}");
}

// cond in while_loop in map, with writes to what the functions make.
Tensors nested(const Tensors& in) {
  return sb::map(
      [](const Tensor& row) {
        const Tensors r = while_loop([](const Tensor& x) { return x < 10; },
                                     [](const Tensor& x) {
                                       const Tensors y = cond(
                                           x < 5,
                                           [](const Tensor& t) {
                                             const Tensor u = clone(t);
                                             u += 1;
                                             return u;
                                           },
                                           [](const Tensor& t) { return t * 2; }, {x});
                                       y[0] += 0.5;
                                       return y;
                                     },
                                     {row * 1});
        r[0] += 1;
        return r;
      },
      in);
}

TEST_CASE("nested control flow is functionalised all through") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensors inputs{make({3}, {0, 4, 20})};
  const std::string written = text_of(nested(inputs));
  if (make.has_data()) CHECK_THAT(written, Contains("{13.5, 12.5, 21}"));
  CHECK(text_of(functionalized(route, nested)(inputs)) == written);
  const Graph g = trace(functionalized(route, nested), inputs);
  CHECK(text_of(g.run(inputs)) == written);
  CHECK_THAT(g.to_string(), !Contains("_.") && Contains("map_impl"));
}

// What lies below functionalisation makes one operator of it: a trace, or fake mode.
Tensors run_as_operator(Route route, const Program& f, const Tensors& inputs) {
  if (is_fake(inputs[0])) return functionalized(route, f)(inputs);
  trace(functionalized(route, f), inputs);
  return {};
}

TEST_CASE(
    "functions that write do so under functionalisation, where nothing below is an obstacle") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const bool pred = GENERATE(true, false);
  const Maker make(GENERATE(Place::Cpu, Place::Dummy));
  const auto run = [&](const auto& transformed) {
    const Tensors inputs{make.pred(pred), make({2}, {1, 2})};
    const Tensor outside = make({2}, {3, 4});
    const Program f = [&](const Tensors& in) {
      const auto write = [&](const Tensor& t) {
        t += 1;
        outside += t;
        return t;
      };
      const auto view = [&](const Tensor& t) { return select(outside, 0, 1) * t; };
      const Tensors r = cond(in[0], write, view, {in[1]});
      r[0] += 10;
      return r;
    };
    const Tensors results = transformed(f)(inputs);
    return str_cat(text_of(results), "; ", text_of(inputs[1]), "; ", text_of(outside), "; ",
                   results[0].is_alias_of(inputs[1]));
  };
  CHECK(run([&](const Program& f) { return functionalized(route, f); }) ==
        run([](const Program& f) { return f; }));
}

TEST_CASE(
    "below a mode, loops that write to what they are given, and functions to what they capture, "
    "are "
    "refused") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensor x = make({2}, {1, 2}), outside = make({2}, {3, 4});
  const auto refused = [&](const Program& f) {
    const std::string text = message([&] { run_as_operator(route, f, {make.pred(true), x}); });
    if (make.has_data()) {
      CHECK(numbers_in(x) == Numbers{1, 2});
      CHECK(numbers_in(outside) == Numbers{3, 4});
    }
    return text;
  };
  CHECK(refused([&](const Tensors& in) {
          const auto f = [&](const Tensor& t) {
            outside += 1;
            return t + 1;
          };
          return cond(in[0], f, f, {in[1]});
        }) ==
        "NotImplementedError: higher_order::cond: true_fn: under functionalization: it writes to a "
        "tensor that it did not make");
  CHECK_THAT(
      refused([&](const Tensors& in) {
        return sb::map([](const Tensor& t) { return t += 1; }, {in[1]});
      }),
      Contains("NotImplementedError: higher_order::map_impl: f: under functionalization: it writes "
               "to argument 0"));
  CHECK_THAT(refused([&](const Tensors& in) {
               return while_loop([](const Tensor& t) { return select(t, 0, 0) < 5; },
                                 [](const Tensor& t) {
                                   select(t, 0, 0) += 1;
                                   return t * 1;
                                 },
                                 {in[1]});
             }),
             Contains("NotImplementedError: higher_order::while_loop: body_fn: under "
                      "functionalization: it writes to argument 0"));
}

TEST_CASE("a function may read what the program around it has made") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const bool pred = GENERATE(true, false);
  const Maker make(GENERATE(from_range(all_places())));
  const auto agrees = [&](const Program& f) {
    const auto run = [&](const Program& program) {
      const Tensors inputs{make.pred(pred), make({2}, {1, 2})};
      return str_cat(text_of(program(inputs)), "; ", text_of(inputs[1]));
    };
    CHECK(run(functionalized(route, f)) == run(f));
  };
  SECTION("an intermediate, with a write before and after the call") {
    agrees([](const Tensors& in) -> Tensors {
      const Tensor made = in[1] * 2, view = select(made, 0, 1);
      view += 10;
      const Tensors r = cond(
          in[0], [made](const Tensor& x) { return x + made; },
          [view](const Tensor& x) { return x * view; }, {in[1]});
      made += 100;
      return {r[0], made, clone(view)};
    });
  }
  SECTION("a view that it makes of one") {
    agrees([](const Tensors& in) {
      const Tensor made = in[1] * 2;
      made += 1;
      const auto f = [made](const Tensor& x) { return x + select(made, 0, 1); };
      return cond(in[0], f, f, {in[1]});
    });
  }
  SECTION("an input, which the program has written to") {
    agrees([](const Tensors& in) {
      in[1] += 1;
      const auto f = [&](const Tensor& x) { return x + in[1]; };
      return cond(in[0], f, f, {in[1] * 3});
    });
  }
  SECTION("from a function in a function, and as the operand of one") {
    agrees([](const Tensors& in) {
      const Tensor made = in[1] * 2;
      made += 1;
      const auto outer = [&](const Tensor& x) {
        const Tensor own = x * 3;
        own += made;
        const auto inner = [&](const Tensor& y) { return y + own + made; };
        return cond(in[0], inner, inner, {made})[0];
      };
      return cond(in[0], outer, outer, {in[1]});
    });
  }
  SECTION("from while_loop and map") {
    agrees([](const Tensors& in) -> Tensors {
      const Tensor made = in[1] * 2;
      made += 1;
      const Tensors r = sb::map([made](const Tensor& row) { return row + made; }, {in[1]});
      return {r[0]};
    });
    if (!make.has_data()) return;
    agrees([](const Tensors& in) {
      const Tensor made = in[1] * 2;
      made += 1;
      return while_loop([](const Tensor& x) { return select(x, 0, 0) < 10; },
                        [made](const Tensor& x) { return x + made; }, {in[1]});
    });
  }
}

TEST_CASE("functions read what the program around them has made, and graphs of them too") {
  const Tensors inputs{tensor_of({}, {1}, DType::Bool), tensor_of({2}, {1, 2})};
  const bool pending = GENERATE(true, false);
  const Program f = [&](const Tensors& in) {
    const Tensor made = in[1] * 2;
    if (pending) made += 1;
    const auto add_made = [made](const Tensor& x) { return x + made; };
    return cond(in[0], add_made, add_made, {in[1]});
  };
  for (const Program& program :
       {f, functionalized(Route::Key, f), functionalized(Route::Mode, f)}) {
    const Graph graph = trace(program, inputs);
    graph.lint();
    CHECK(text_of(graph.run(inputs)) == text_of(f(inputs)));
    const Tensors others{inputs[0], tensor_of({2}, {5, 6})};
    CHECK(text_of(graph.run(others)) == text_of(f(others)));
  }
}

TEST_CASE("functions that write to what the program around them has made are refused below") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensors inputs{tensor_of({}, {1}, DType::Bool), tensor_of({2}, {1, 2})};
  const auto refused = [&](const Program& f) {
    const std::string text = message([&] { run_as_operator(route, f, inputs); });
    CHECK(numbers_in(inputs[1]) == Numbers{1, 2});
    return text;
  };
  // What a function does to a tensor that it has captured.
  const auto with = [](const std::function<void(const Tensor&)>& write) -> Program {
    return [write](const Tensors& in) {
      const Tensor made = in[1] * 2;
      const auto f = [&](const Tensor& x) {
        write(made);
        return x + 1;
      };
      const Tensors r = cond(in[0], f, f, {in[1]});
      return Tensors{r[0], made};
    };
  };
  const std::string captured =
      "a function that an operator takes writes to a tensor that it has captured, float32[2] on "
      "cpu; under functionalization it must write to a clone";
  CHECK(refused(with([](const Tensor& t) { t += 1; })) ==
        str_cat("NotImplementedError: aten::add_.Scalar: argument 0 'self': ", captured));
  CHECK(refused(with([](const Tensor& t) { transpose_(t, 0, 0); })) ==
        str_cat("NotImplementedError: aten::transpose_: argument 0 'self': ", captured));
  // The outer function's tensor is captured by the inner one.
  CHECK_THAT(refused([](const Tensors& in) {
               const auto outer = [&](const Tensor& x) {
                 const Tensor own = x * 2;
                 const auto inner = [&](const Tensor& y) {
                   own += 1;
                   return y + 1;
                 };
                 return cond(in[0], inner, inner, {x})[0];
               };
               return cond(true, outer, outer, {in[1]});
             }),
             Contains(captured));
}

TEST_CASE("exceptions of functions pass through functionalised programs") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Maker make(GENERATE(from_range(all_places())));
  const Program f = [](const Tensors& in) {
    const auto bad = [](const Tensor&) -> Tensor { throw ValueError("no such thing"); };
    return cond(in[0], bad, bad, {in[1]});
  };
  const Tensors inputs{make.pred(true), make({2}, {1, 2})};
  CHECK(message([&] { functionalized(route, f)(inputs); }) == "ValueError: no such thing");
  CHECK(message([&] { trace(functionalized(route, f), inputs); }) == "ValueError: no such thing");
}

}  // namespace
}  // namespace sb::test
