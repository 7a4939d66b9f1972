#include "switchboard/transforms/control_flow/cond.h"

#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensor plus_one(const Tensor& x) { return x + 1; }
Tensor negated(const Tensor& x) { return -x; }

// in[0] ? in[1] + 1 : -in[1]
Tensors plus_one_or_negated(const Tensors& in) { return cond(in[0], plus_one, negated, {in[1]}); }

TEST_CASE("cond runs the first function where the predicate holds, else the second") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensor x = make({2}, {1, 2});
  const std::string yes = run_all_ways(plus_one_or_negated, {make.pred(true), x});
  const std::string no = run_all_ways(plus_one_or_negated, {make.pred(false), x});
  if (make.has_data()) {
    CHECK(yes == str_cat(x.describe(), " {2, 3}"));
    CHECK(no == str_cat(x.describe(), " {-1, -2}"));
  } else {
    CHECK(yes == x.describe());
    CHECK(no == x.describe());
  }
}

TEST_CASE("cond is found by its name, and takes a predicate of any shape with one element") {
  CHECK(find_higher_order_op("cond") == &cond_op());
  const Tensor x = tensor_of({1}, {5});
  const Tensor pred = tensor_of({1, 1}, {1}, DType::Bool);
  CHECK(text_of(plus_one_or_negated({pred, x})) == "float32[1] on cpu {6}");
  // The operator itself takes a bool too.
  const auto run = [&](bool b) {
    return text_of(cond_op()({b, tensor_callable("f", plus_one), tensor_callable("g", negated),
                              std::vector<IValue>{x}})[0]
                       .to_tensor());
  };
  CHECK(run(true) == "float32[1] on cpu {6}");
  CHECK(run(false) == "float32[1] on cpu {-5}");
}

TEST_CASE("a predicate of any dtype holds unless it is zero") {
  const Tensor x = tensor_of({1}, {5});
  const auto run = [&](const Tensor& pred) { return run_all_ways(plus_one_or_negated, {pred, x}); };
  CHECK(run(tensor_of({}, {2})) == str_cat(x.describe(), " {6}"));
  CHECK(run(tensor_of({}, {-0.0})) == str_cat(x.describe(), " {-5}"));
  CHECK(run(tensor_of({1}, {-3}, DType::Int64)) == str_cat(x.describe(), " {6}"));
}

TEST_CASE("the functions of cond give any number of tensors, and may take none") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensor x = make({2, 3}, {0, 1, 2, 3, 4, 5});
  const Program none = [](const Tensors& in) {
    return cond(
        in[0], [](const Tensors&) { return Tensors{}; }, [](const Tensors&) { return Tensors{}; },
        {in[1]});
  };
  CHECK(run_all_ways(none, {make.pred(true), x}).empty());
  const Program two = [](const Tensors& in) {
    return cond(
        in[0],
        [](const Tensors& t) {
          return Tensors{t[0] + 1, sum(t[0])};
        },
        [](const Tensors& t) {
          return Tensors{t[0] * 2, sum(t[0]) * 0};
        },
        {in[1]});
  };
  const std::string text = run_all_ways(two, {make.pred(false), x});
  if (make.has_data()) CHECK_THAT(text, Contains("{0, 2, 4, 6, 8, 10}") && Contains("{0}"));
  const Program no_operands = [](const Tensors& in) {
    const Tensors r = cond(
        in[0], [] { return ones({2}); }, [] { return zeros({2}); });
    return Tensors{r[0] + 1};
  };
  const Tensor pred = tensor_of({}, {1}, DType::Bool);
  CHECK(run_all_ways(no_operands, {pred}) == "float32[2] on cpu {2, 2}");
}

TEST_CASE("a graph of cond has both functions, and takes either when it runs again") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensor x = make({2}, {1, 2});
  const bool traced_with = GENERATE(true, false);
  const Graph g =
      trace(plus_one_or_negated, {make.pred(traced_with), x}, {.input_names = {"p", "x"}});
  const std::string on = x.is_cpu() ? "" : str_cat(" on ", to_string(x.device()));
  const std::string pred_on =
      make.pred(true).is_cpu() ? "" : str_cat(" on ", to_string(x.device()));
  CHECK(g.to_string() == str_cat("graph(p: bool[]", pred_on, ", x: float32[2]", on, "):\n",
                                 "  cond = cond(p, true_graph, false_graph, [x])\n"
                                 "  getitem = cond[0]\n"
                                 "  return (getitem,)\n"
                                 "\n"
                                 "true_graph(arg0: float32[2]",
                                 on,
                                 "):\n"
                                 "  add = aten::add.Scalar(arg0, 1)\n"
                                 "  return (add,)\n"
                                 "\n"
                                 "false_graph(arg0: float32[2]",
                                 on,
                                 "):\n"
                                 "  neg = aten::neg(arg0)\n"
                                 "  return (neg,)\n"));
  CHECK(text_of(g.run({make.pred(true), x})) == text_of(x + 1));
  CHECK(text_of(g.run({make.pred(false), x})) == text_of(-x));
}

TEST_CASE("a predicate that depends on data needs none in a fake mode") {
  const auto f = [](const Tensors& in) { return cond(sum(in[0]) > 0, plus_one, negated, in); };
  const Maker make(Place::Fake);
  CHECK(run_all_ways(f, {make({2}, {1, 2})}) == "float32[2] on cuda:0");
  // The graph that was made without data runs on data.
  const Graph g = trace(f, {make({2}, {1, 2})});
  CHECK(text_of(g.run({tensor_of({2}, {1, 2})})) == "float32[2] on cpu {2, 3}");
  CHECK(text_of(g.run({tensor_of({2}, {-1, -2})})) == "float32[2] on cpu {1, 2}");
  CHECK_THAT(message([&] {
               f({Maker(Place::Meta)({2}, {1, 2})});
             }),
             Contains("NotImplementedError: higher_order::cond: pred: ") &&
                 Contains("depends on the data"));
}

TEST_CASE("a predicate that is a C++ bool chooses at once, and a graph has only what ran") {
  const Tensor x = tensor_of({1}, {3});
  const Program f = [](const Tensors& in) { return cond(in.size() == 1, plus_one, negated, in); };
  CHECK(run_all_ways(f, {x}) == "float32[1] on cpu {4}");
  const std::string text = trace(f, {x}).to_string();
  CHECK_THAT(text, Contains("aten::add.Scalar") && !Contains("cond"));
  CHECK(message([] { cond(true, plus_one, negated, {Tensor()}); }) ==
        "RuntimeError: higher_order::cond: operands: item 0: expected a tensor, got an undefined "
        "one");
}

TEST_CASE("an operand that a function returns is still itself after the call") {
  const Maker make(GENERATE(from_range(all_places())));
  const Program f = [](const Tensors& in) {
    const Tensors r = cond(
        in[0],
        [](const Tensors& t) {
          return Tensors{t[0], t[0]};
        },
        [](const Tensors& t) {
          return Tensors{t[0] * 2, t[0] * 3};
        },
        {in[1]});
    return Tensors{r[0] + in[1], r[1] + in[1]};
  };
  const Tensor x = make({1}, {5});
  run_all_ways(f, {make.pred(true), x});
  const Graph g = trace(f, {make.pred(true), x});
  if (!make.has_data()) return;
  CHECK(numbers_in(g.run({make.pred(true), x})[1]) == Numbers{10});
  CHECK(numbers_in(g.run({make.pred(false), x})[0]) == Numbers{15});
  CHECK(numbers_in(g.run({make.pred(false), x})[1]) == Numbers{20});
}

TEST_CASE("a captured tensor that a function returns is still itself after the call") {
  const Tensor captured = tensor_of({1}, {7});
  const Program f = [&](const Tensors& in) {
    const Tensors r = cond(
        in[0], [&](const Tensor&) { return captured; }, [](const Tensor& t) { return t * 1; },
        {in[1]});
    return Tensors{r[0], captured + 0};
  };
  const Tensor x = tensor_of({1}, {1});
  const Graph g = trace(f, {tensor_of({}, {1}, DType::Bool), x});
  CHECK(text_of(g.run({tensor_of({}, {0}, DType::Bool), x})) ==
        "float32[1] on cpu {1}; float32[1] on cpu {7}");
}

TEST_CASE("functions that give different tensors are refused by traces and fake modes") {
  struct Case {
    Program no;
    std::string error;
  };
  const std::vector<Case> cases{
      {[](const Tensors&) { return Tensors{}; },
       "expected 1 results, as many as true_fn, got 0; a graph, and fake tensors, stand for "
       "whatever the data say"},
      {[](const Tensors& in) {
         return Tensors{in[0], in[0]};
       },
       "expected 1 results, as many as true_fn, got 2; a graph, and fake tensors, stand for "
       "whatever the data say"},
      {[](const Tensors& in) { return Tensors{sum(in[0])}; },
       "result 0: expected float32[2, 2] on DEVICE, as of true_fn, got float32[] on DEVICE; "
       "a graph, and fake tensors, stand for whatever the data say"},
      {[](const Tensors& in) { return Tensors{in[0] > 0}; },
       "result 0: expected float32[2, 2] on DEVICE, as of true_fn, got bool[2, 2] on "
       "DEVICE; a graph, and fake tensors, stand for whatever the data say"},
      {[](const Tensors& in) { return Tensors{transpose(in[0] + 1, 0, 1)}; },
       "result 0: expected float32[2, 2] on DEVICE with strides [2, 1], as of true_fn, got "
       "float32[2, 2] on DEVICE with strides [1, 2]; a graph, and fake tensors, have fixed "
       "strides"},
  };
  const Place place = GENERATE(from_range(all_places()));
  const Maker make(place);
  const Tensor x = make({2, 2}, {1, 2, 3, 4});
  for (const Case& c : cases) {
    const Program f = [&](const Tensors& in) { return cond(in[0], plus_one, c.no, {in[1]}); };
    std::string expected = str_cat("RuntimeError: higher_order::cond: false_fn: ", c.error);
    for (size_t at; (at = expected.find("DEVICE")) != std::string::npos;)
      expected.replace(at, 6, to_string(x.device()));
    CHECK(message([&] { trace(f, {make.pred(true), x}); }) == expected);
    CHECK(message([&] { f({make.pred(true), x}); }) == (place == Place::Fake ? expected : ""));
  }
}

TEST_CASE("on fake tensors results must begin at one place of their memory") {
  FakeTensorMode fake;
  const Tensor pred = fake.from_tensor(tensor_of({}, {1}, DType::Bool));
  const Tensor x = fake.from_tensor(tensor_of({2, 2}, {1, 2, 3, 4}));
  const auto row = [](int64_t i) { return [i](const Tensor& t) { return select(t, 0, i); }; };
  CHECK(cond(pred, row(1), row(1), {x})[0].storage_offset() == 2);
  CHECK(message([&] { cond(pred, row(0), row(1), {x}); }) ==
        "RuntimeError: higher_order::cond: false_fn: result 0: expected the storage offset 0, as "
        "of true_fn, got 2; fake tensors have a fixed one: give a clone");
}

TEST_CASE("devices of results must agree") {
  FakeTensorMode fake;
  const Tensor cpu = fake.from_tensor(tensor_of({1}, {1}));
  const Tensor cuda = fake.from_tensor(tensor_of({1}, {1}), Device("cuda:1"));
  const Tensor pred = fake.from_tensor(tensor_of({}, {1}, DType::Bool));
  CHECK(message([&] {
          cond(
              pred, [](const Tensors& in) { return Tensors{in[0] + 1}; },
              [](const Tensors& in) { return Tensors{in[1] + 1}; }, {cpu, cuda});
        }) ==
        "RuntimeError: higher_order::cond: false_fn: result 0: expected float32[1] on cpu, as of "
        "true_fn, got float32[1] on cuda:1; a graph, and fake tensors, stand for whatever the "
        "data say");
}

TEST_CASE("wrong arguments of cond are errors that name them, eager and traced") {
  const Tensor x = tensor_of({2}, {1, 2});
  const Tensor yes = tensor_of({}, {1}, DType::Bool);
  const IValue f = tensor_callable("f", plus_one), g = tensor_callable("g", negated);
  const auto check = [&](std::vector<IValue> arguments, const std::string& expected) {
    const auto call = [&](const Tensors&) {
      cond_op()(arguments);
      return Tensors{};
    };
    CHECK(message([&] { call({}); }) == expected);
    CHECK(message([&] { trace(call, {}); }) == expected);
    FakeTensorMode fake;
    FakeTensorModeGuard active(fake);
    CHECK(message([&] { call({}); }) == expected);
  };
  const std::string name = "higher_order::cond: ";
  check({yes, f, g}, str_cat("TypeError: ", name, "expected 4 arguments, got 3"));
  check({1, f, g, Tensors{x}},
        str_cat("TypeError: ", name, "pred: expected a bool or a tensor, got Int"));
  check({Tensor(), f, g, Tensors{x}},
        str_cat("RuntimeError: ", name, "pred: expected a tensor, got an undefined one"));
  check({x, f, g, Tensors{x}},
        str_cat("RuntimeError: ", name, "pred: expected one element, got float32[2] on cpu"));
  check({tensor_of({0}, {}, DType::Bool), f, g, Tensors{x}},
        str_cat("RuntimeError: ", name, "pred: expected one element, got bool[0] on cpu"));
  check({yes, 3, g, Tensors{x}},
        str_cat("TypeError: ", name, "true_fn: expected a Callable, got Int"));
  check({yes, f, x, Tensors{x}},
        str_cat("TypeError: ", name, "false_fn: expected a Callable, got Tensor"));
  check({yes, f, g, x},
        str_cat("TypeError: ", name, "operands: expected a list of tensors, got Tensor"));
  check({yes, f, g, std::vector<IValue>{x, 2}},
        str_cat("TypeError: ", name, "operands: item 1: expected a tensor, got Int"));
  check(
      {yes, f, g, Tensors{x, Tensor()}},
      str_cat("RuntimeError: ", name, "operands: item 1: expected a tensor, got an undefined one"));
  check({yes, f, g, Tensors{x, x}}, "TypeError: f: the function takes 1 tensors, got 2");
}

TEST_CASE("results that are no tensors are errors that name them") {
  const Tensor pred = tensor_of({}, {1}, DType::Bool);
  const auto run = [&](Callable::Function f) {
    return message([&] { cond_op()({pred, Callable::make(f), Callable::make(f), Tensors{}}); });
  };
  CHECK(run([](std::vector<IValue>) {
          return std::vector<IValue>{ones({1}), 3};
        }) == "TypeError: higher_order::cond: true_fn: result 1: expected a tensor, got Int");
  CHECK(run([](std::vector<IValue>) { return std::vector<IValue>{Tensor()}; }) ==
        "RuntimeError: higher_order::cond: true_fn: result 0: expected a tensor, got an undefined "
        "one");
}

TEST_CASE("exceptions of functions pass through and leave the thread as it was") {
  const Maker make(GENERATE(from_range(all_places())));
  const Program f = [](const Tensors& in) {
    return cond(in[0], plus_one, [](const Tensor&) -> Tensor { throw ValueError("no such thing"); },
                {in[1]});
  };
  const Tensors inputs{make.pred(false), make({1}, {1})};
  CHECK(message([&] { f(inputs); }) == "ValueError: no such thing");
  CHECK(message([&] { trace(f, inputs); }) == "ValueError: no such thing");
  // What comes after is not touched by it.
  CHECK(run_all_ways(plus_one_or_negated, {make.pred(true), inputs[1]}) == text_of(inputs[1] + 1));
}

TEST_CASE("a trace that a function throws in goes on as if the call had not been") {
  const Tensor pred = tensor_of({}, {1}, DType::Bool), x = tensor_of({1}, {1});
  const Graph g = trace(
      [](const Tensors& in) {
        CHECK_THROWS_AS(
            cond(in[0], plus_one, [](const Tensor&) -> Tensor { throw ValueError("no"); }, {in[1]}),
            ValueError);
        return Tensors{in[1] * 2};
      },
      {pred, x});
  CHECK(g.size() == 4);
  CHECK_THAT(g.to_string(), !Contains("cond"));
}

class ReplacingMode : public DispatchMode {
 public:
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    op.call_boxed(stack);
  }
  std::string name() const override { return "ReplacingMode"; }
};

TEST_CASE("a mode that does not only watch and has no rule for cond is an error that names it") {
  ReplacingMode mode;
  const Tensor pred = tensor_of({}, {1}, DType::Bool), x = tensor_of({1}, {1});
  ModeGuard guard(&mode);
  CHECK_THAT(message([&] {
               plus_one_or_negated({pred, x});
             }),
             Contains("NotImplementedError: higher_order::cond: no rule for the mode ") &&
                 Contains("ReplacingMode") &&
                 Contains("modes: sb::TracingMode (transforms/control_flow/cond.cc:") &&
                 Contains("sb::internal::FakeMode (fake/control_flow_rules.cc:"));
}

TEST_CASE("a user's mode may be given a rule for cond, which then runs instead") {
  CountingMode counting;
  int calls = 0;
  const Tensor pred = tensor_of({}, {1}, DType::Bool), x = tensor_of({1}, {1});
  const RegistrationHandle rule =
      cond_op().impl_mode<CountingMode>([&](CountingMode&, DispatchKeySet, Stack* stack) {
        ++calls;
        cond_op().call_boxed(stack);
      });
  ModeGuard guard(&counting);
  CHECK(text_of(plus_one_or_negated({pred, x})) == "float32[1] on cpu {2}");
  CHECK(calls == 1);
}

TEST_CASE("real tensors that a function captures are constants of its graph") {
  const Tensor x = tensor_of({1}, {1}), outside = tensor_of({1}, {7});
  const Tensor pred = tensor_of({}, {1}, DType::Bool);
  const Program f = [&](const Tensors& in) {
    return cond(in[0], plus_one, [&](const Tensor& t) { return t + outside; }, {in[1]});
  };
  CHECK(run_all_ways(f, {pred, x}) == "float32[1] on cpu {2}");
  const Graph g = trace(f, {pred, x});
  CHECK(text_of(g.run({tensor_of({}, {0}, DType::Bool), x})) == "float32[1] on cpu {8}");
}

TEST_CASE("tensors of the trace that functions capture become inputs of all their graphs") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Program f = [](const Tensors& in) {
    const Tensor doubled = in[1] * 2;
    return cond(
        in[0], [&](const Tensor& t) { return t + in[1]; },
        [&](const Tensor& t) { return t * doubled; }, {doubled});
  };
  const Tensors inputs{make.pred(true), make({1}, {3})};
  run_all_ways(f, inputs);
  const Graph g = trace(f, inputs, {.input_names = {"p", "x"}});
  CHECK_THAT(g.to_string(), Contains("cond(p, true_graph, false_graph, [mul, x, mul])"));
  CHECK_THAT(g.to_string(), Contains("= aten::add.Tensor(arg0, arg1)") &&
                                Contains("= aten::mul.Tensor(arg0, arg2)"));
  if (!make.has_data()) return;
  CHECK(numbers_in(g.run(inputs)[0]) == Numbers{9});
  CHECK(numbers_in(g.run({make.pred(false), make({1}, {5})})[0]) == Numbers{100});
}

TEST_CASE("arguments of the operators may be given by name") {
  const Tensor x = tensor_of({1}, {1}), pred = tensor_of({}, {0}, DType::Bool);
  const IValue yes = tensor_callable("f", plus_one), no = tensor_callable("g", negated);
  const std::vector<IValue> r =
      cond_op()({pred}, {{"operands", Tensors{x}}, {"false_fn", no}, {"true_fn", yes}});
  CHECK(text_of(r[0].to_tensor()) == "float32[1] on cpu {-1}");
  CHECK(message([&] {
          cond_op()({pred}, {{"pred", pred}});
        }) == "TypeError: higher_order::cond: argument 0 'pred' given twice");
  CHECK(message([&] {
          cond_op()({pred}, {{"body", yes}});
        }) ==
        "TypeError: higher_order::cond: unknown argument 'body'; it takes: pred, true_fn, "
        "false_fn, operands");
  CHECK(message([&] {
          cond_op()({pred}, {{"false_fn", no}});
        }) == "TypeError: higher_order::cond: argument 1 'true_fn' is missing");
}

TEST_CASE("modes that only watch see the call and what its functions call") {
  CountingMode counting;
  const Tensor pred = tensor_of({}, {1}, DType::Bool), x = tensor_of({1}, {1});
  {
    ModeGuard guard(&counting);
    CHECK(text_of(plus_one_or_negated({pred, x})) == "float32[1] on cpu {2}");
  }
  CHECK(counting.count("higher_order::cond") == 1);
  CHECK(counting.count("aten::add.Scalar") == 1);
}

TEST_CASE("a traced function sees its operands' strides, so that its graph fits them") {
  const Maker make(GENERATE(from_range(all_places())));
  const Tensor base = make({2, 3}, {0, 1, 2, 3, 4, 5});
  // What a view is possible of, a program may ask the strides; the answer is burnt in.
  const auto flat = [](const Tensor& t) {
    return t.is_contiguous() ? view(t, {6}) : reshape(t, {6});
  };
  const Program f = [&](const Tensors& in) {
    return cond(
        in[0], [&](const Tensor& t) { return flat(t) + 0; },
        [&](const Tensor& t) { return flat(t) * 2; }, {in[1]});
  };
  const Tensor turned = transpose(base, 0, 1), spread = expand(select(base, 0, 0), {2, 3});
  const std::string text = run_all_ways(f, {make.pred(true), turned});
  run_all_ways(f, {make.pred(true), spread});
  run_all_ways(f, {make.pred(true), narrow(base, 1, 0, 3)});
  if (make.has_data()) CHECK_THAT(text, Contains("{0, 3, 1, 4, 2, 5}"));
}

TEST_CASE("what a fake mode's functions give must be fake") {
  FakeTensorMode fake;
  const Tensor real = tensor_of({1}, {1});
  const Tensor pred = fake.from_tensor(tensor_of({}, {1}, DType::Bool));
  CHECK(message([&] {
          cond(
              pred, [&] { return real; }, [&] { return real; });
        }) ==
        "RuntimeError: higher_order::cond: true_fn: result 0: expected a fake tensor of the mode, "
        "got float32[1] on cpu");
}

}  // namespace
}  // namespace sb::test
