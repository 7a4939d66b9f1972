// Functionalisation, traces, fake tensors and gradients of one another.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/autocast/autocast.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/higher_order/derivatives/checkpoint.h"

namespace sb::questions {
namespace {

Tensor part(const Tensor& x, int64_t begin, int64_t end) { return slice(x, 0, begin, end); }

SB_QUESTION(
    "A traced program computes with gradients off. Has its graph the gradients of the "
    "program?",
    .pytorch = "No: the graph derives through that part, without a word (12 for 6).",
    .here = "Yes, with keep_no_grad; a plain trace is of the operators, as make_fx's.",
    .better = "There is a way to have them.") {
  const Program f = [](const Tensors& in) {
    Tensor y;
    {
      const NoGradGuard off;
      y = in[0] * 2;
    }
    return Tensors{y * in[0]};
  };
  const Tensor eager = leaf({3});
  CHECK(gradient(f({eager})[0], eager) == Values{6});
  const Graph graph = trace(f, {numbers({1})}, {.keep_no_grad = true});
  const Tensor x = leaf({3});
  CHECK(gradient(graph.run({x})[0], x) == Values{6});
}

SB_QUESTION("It detaches a tensor. Has its graph the gradients of the program?",
            .pytorch = "No: detach is not in the graph, whose gradient is 6 for 3.", .here = "Yes.",
            .better = "detach() is what the program says.") {
  const Program f = [](const Tensors& in) { return Tensors{detach(in[0]) * in[0]}; };
  const Tensor eager = leaf({3});
  CHECK(gradient(f({eager})[0], eager) == Values{3});
  const Graph graph = trace(f, {numbers({1})});
  const Tensor x = leaf({3});
  CHECK(gradient(graph.run({x})[0], x) == Values{3});
}

SB_QUESTION("It reads a number of its data, and branches by it?",
            .both = "An error that names the operator: the branch would be burnt in.") {
  const Program f = [](const Tensors& in) {
    return Tensors{item(sum_all(in[0])).to<double>() > 0 ? in[0] * 2 : in[0] * 3};
  };
  CHECK_THAT(error_of([&] { trace(f, {numbers({1})}); }), Contains("_local_scalar_dense"));
}

SB_QUESTION("It reads a size?",
            .both = "The size is burnt in; traced on fake tensors with symbols it is a node.") {
  const Program f = [](const Tensors& in) { return Tensors{in[0] * in[0].size(0)}; };
  CHECK(values_of(trace(f, {numbers({1, 1})}).run({numbers({1, 1, 1})})[0]) == Values{2, 2, 2});
}

SB_QUESTION(
    "It uses a tensor from outside, which changes after the trace. What does the graph use?",
    .both = "What the tensor is when it runs.") {
  const Tensor c = numbers({1});
  const Graph graph = trace([&](const Tensors& in) { return Tensors{in[0] + c}; }, {numbers({1})});
  mul_Scalar_(c, 10);
  CHECK(values_of(graph.run({numbers({1})})[0]) == Values{11});
}

SB_QUESTION("It writes to a tensor from outside. How often is that written?",
            .both = "Once while it is traced, and once by each run of the graph.") {
  const Tensor c = numbers({1});
  const Graph graph = trace(
      [&](const Tensors& in) {
        add_Scalar_(c, 1);
        return Tensors{in[0] + c};
      },
      {numbers({1})});
  CHECK(values_of(c) == Values{2});
  CHECK(values_of(graph.run({numbers({1})})[0]) == Values{4});
  CHECK(values_of(c) == Values{3});
}

SB_QUESTION("A tensor that a trace made is used in another trace. What is it there?",
            .both = "A constant.") {
  Tensor kept;
  trace(
      [&](const Tensors& in) {
        kept = in[0] * 2;
        return Tensors{kept};
      },
      {numbers({1})});
  const Graph graph =
      trace([&](const Tensors& in) { return Tensors{in[0] + kept}; }, {numbers({1})});
  CHECK(values_of(graph.run({numbers({1})})[0]) == Values{3});
}

SB_QUESTION("A traced program draws random numbers. Does each run of the graph draw its own?",
            .both = "Yes.") {
  const Graph graph =
      trace([](const Tensors& in) { return Tensors{rand_like(in[0])}; }, {numbers({1, 1, 1})});
  CHECK(values_of(graph.run({numbers({1, 1, 1})})[0]) !=
        values_of(graph.run({numbers({1, 1, 1})})[0]));
}

SB_QUESTION(
    "A tensor is written to, of which nobody sees anything afterwards. Does a graph keep "
    "the write?",
    .both = "Yes: dead-code elimination leaves writes.") {
  Graph graph = trace(
      [](const Tensors& in) {
        add_Scalar_(in[0], 1);
        return Tensors{numbers({1}) * 2};
      },
      {numbers({1})});
  graph.eliminate_dead_code();
  const Tensor x = numbers({1});
  graph.run({x});
  CHECK(values_of(x) == Values{2});
}

SB_QUESTION("A view is taken, its base is written to, and then the view is read: in a graph?",
            .both = "It sees the write.") {
  const Graph graph = trace(
      [](const Tensors& in) {
        const Tensor y = in[0] * 1, v = part(y, 0, 1);
        add_Scalar_(y, 1);
        return Tensors{v * 2};
      },
      {numbers({1, 1})});
  CHECK(values_of(graph.run({numbers({5, 5})})[0]) == Values{12});
}

SB_QUESTION(
    "A functionalised program writes to its input, which was computed from a leaf. Do "
    "gradients pass to the result, and to the input?",
    .both = "To both.") {
  const Program f = functionalize([](const Tensors& in) {
    mul_Scalar_(in[0], 3);
    return Tensors{in[0] * 1};
  });
  const Tensor x = leaf({1}), b = x * 2, r = f({b})[0];
  CHECK(gradient(r, x) == Values{6});
  const Tensor y = leaf({1}), c = y * 2;
  f({c});
  CHECK(gradient(c, y) == Values{6});
}

SB_QUESTION("Do gradients pass the functional mode?",
            .pytorch =
                "No: results of the mode do not require a gradient (it stands below "
                "autograd).",
            .here = "Yes.", .better = "A gradient is not lost without a word.") {
  const Program f = FunctionalMode().functionalize([](const Tensors& in) {
    const Tensor y = in[0] * 1;
    add_Scalar_(y, 1);
    return Tensors{y * y};
  });
  const Tensor x = leaf({1});
  const Tensor y = f({x})[0];
  CHECK(gradient(y, x) == Values{4});
}

SB_QUESTION(
    "A program computes a gradient, is functionalised and traced. Does the graph compute "
    "it?",
    .pytorch = "RuntimeError: nothing requires a gradient.", .here = "Yes.",
    .better = "Backward passes are programs, too.") {
  const Program f = [](const Tensors& in) {
    const Tensor x = detach(in[0]);
    set_requires_grad(x);
    const Tensor y = x * 1;
    mul_Scalar_(part(y, 0, 1), 3);
    return grad({sum_all(y)}, {x});
  };
  const Graph graph = trace(functionalize(f), {numbers({1, 1})});
  CHECK(values_of(graph.run({numbers({1, 1})})[0]) == Values{3, 1});
}

SB_QUESTION("A functional tensor leaves the program that made it. What can be done with it?",
            .pytorch =
                "By the key it goes on as a functional tensor in the midst of plain ones; "
                "by the mode, RuntimeError.",
            .here = "It is refused, or has the value that it had.",
            .better = "The wrapper does not spread.") {
  Tensor kept;
  const Program f = [&](const Tensors& in) {
    kept = in[0] * 2;
    return Tensors{kept * 1};
  };
  functionalize(f)({numbers({1})});
  std::string text;
  const std::string error = error_of([&] { text = std::to_string(values_of(kept + 1)[0]); });
  CHECK((error != "no error" || text == std::to_string(3.0)));
  CAPTURE(error);
}

SB_QUESTION("A functionalised program throws. What is left of it?",
            .both = "Nothing: the thread's keys are as before and its inputs have no write.") {
  const Tensor x = numbers({1});
  const DispatchTls before = dispatch_tls;
  CHECK(error_of([&] {
          functionalize([](const Tensors& in) -> Tensors {
            add_Scalar_(in[0], 1);
            SB_THROW(ValueError, "no");
          })({x});
        }) == "ValueError: no");
  CHECK(dispatch_tls.included == before.included);
  CHECK(dispatch_tls.excluded() == before.excluded());
  CHECK(values_of(x) == Values{1});
}

SB_QUESTION("Is a program on fake tensors functionalised?",
            .both = "Yes, and the results are fake.") {
  FakeTensorMode fake;
  const Program f = [](const Tensors& in) {
    const Tensor y = in[0] * 1;
    add_Scalar_(part(y, 0, 1), 1);
    return Tensors{y};
  };
  const Tensor x = fake.from_tensor(numbers({1, 2}));
  CHECK(is_fake(functionalize(f)({x})[0]));
  CHECK(is_fake(FunctionalMode().functionalize(f)({x})[0]));
}

SB_QUESTION(
    "A composite operator of one's own writes to its argument and does not say so. Is the "
    "write there, functionalised?",
    .both = "Yes: it is what it is composed of.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CompositeImplicitAutograd, [](const Tensor& x) {
    add_Scalar_(x, 1);
    return x * 2;
  });
  const Program f = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    return Tensors{call(op, y), y};
  };
  const Tensors r = functionalize(f)({numbers({1})});
  CHECK(values_of(r[0]) == Values{4});
  CHECK(values_of(r[1]) == Values{2});
}

SB_QUESTION("A graph holds a custom operator. Has it the operator's gradient?",
            .both = "Yes; of one without, backward is the same error as without a graph.") {
  const CustomOp with =
      custom_op("q::f", [](const Tensor& x) {
        return x * 3;
      }).register_autograd([](FunctionContext&, const Tensor& g) { return g * 7; });
  const CustomOp without = custom_op("q::g", [](const Tensor& x) { return x * 3; });
  const auto graph_of = [](const CustomOp& op) {
    return trace([&](const Tensors& in) { return Tensors{op(in[0])}; }, {numbers({1})});
  };
  const Tensor x = leaf({1});
  CHECK(gradient(graph_of(with).run({x})[0], x) == Values{7});
  const Tensor y = graph_of(without).run({x})[0];
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError: q::g"));
}

SB_QUESTION("A checkpointed function adds to a tensor from outside. How often, with backward?",
            .pytorch = "Twice, without a word.", .here = "It is refused by name.",
            .better = "The second addition would be a fault of the tool.") {
  const Tensor c = numbers({0}), x = leaf({1});
  const std::string error = error_of([&] {
    const Tensor y = wrap_activation_checkpoint(
        [&](const Tensor& t) {
          add_Scalar_(c, 1);
          return t * t;
        },
        {x})[0];
    gradient(y, x);
  });
  if (error == "no error")
    CHECK(values_of(c) == Values{1});
  else
    CHECK_THAT(error, Contains("checkpoint"));
}

SB_QUESTION("It draws random numbers. Are they the same in backward?", .both = "Yes.") {
  const Tensor x = leaf({1, 1, 1});
  const Tensor y =
      wrap_activation_checkpoint([](const Tensor& t) { return t * rand_like(t) * t; }, {x})[0];
  const Values twice = values_of(y * 2);
  CHECK(gradient(y, x) == twice);
}

SB_QUESTION(
    "It was called under autocast, and backward runs outside. In which dtype is it computed "
    "again?",
    .both = "In that of the first time: the autocast of then is on again.") {
  const Tensor w = test::tensor_of({1, 1}, {1.001});
  const auto derived = [&](const std::function<Tensor(const Tensor&)>& f) {
    const Tensor x = test::tensor_of({1, 1}, {1.001});
    set_requires_grad(x);
    Tensor y;
    {
      const AutocastGuard autocast("cpu");
      y = f(x);
    }
    return gradient(y, x);
  };
  const auto product = [&](const Tensor& x) { return mm(x, w); };
  CHECK(derived([&](const Tensor& x) { return wrap_activation_checkpoint(product, {x})[0]; }) ==
        derived(product));
}

SB_QUESTION(
    "A branch is given a tensor that it also has from outside, writes to the one and reads "
    "the other. What do layers make of it?",
    .pytorch =
        "Eagerly and in a graph it reads the write; functionalised, RuntimeError "
        "about the mode of a tensor.",
    .here =
        "It reads the write; a graph of the functionalised program is refused, by the "
        "name of the branch.",
    .better = "The error says what to change.") {
  const Program f = [](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const auto body = [&](const Tensor& a) {
      add_Scalar_(a, 1);
      return y * 1;
    };
    return cond(in[0], body, body, {y});
  };
  const auto inputs = [] { return Tensors{truth(true), numbers({1})}; };
  CHECK(values_of(f(inputs())[0]) == Values{2});
  CHECK(values_of(functionalize(f)(inputs())[0]) == Values{2});
  CHECK(values_of(trace(f, inputs()).run(inputs())[0]) == Values{2});
  CHECK_THAT(error_of([&] { trace(functionalize(f), inputs()); }),
             StartsWith("NotImplementedError: higher_order::cond: true_fn"));
}

}  // namespace
}  // namespace sb::questions
