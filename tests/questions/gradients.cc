// What backward functions return, save and do.

#include <tuple>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

// q::f(x) = 3x with this backward.
CustomOp times3(BackwardFunction backward, SetupContext setup = {}) {
  return custom_op("q::f", [](const Tensor& x) { return x * 3; })
      .register_autograd(std::move(backward), std::move(setup));
}
CustomOp product(BackwardFunction backward) {
  return custom_op("q::f", [](const Tensor& x, const Tensor& y) { return x * y; })
      .register_autograd(std::move(backward));
}
void save_input(FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
  ctx.save_for_backward({inputs.tensor(0)});
}
// What backward through op(x) throws.
std::string error_in_backward(const CustomOp& op, const Tensor& x) {
  const Tensor y = op(x);
  return error_of([&] { gradient(y, x); });
}

SB_QUESTION("Backward returns too many gradients, or too few. What happens?",
            .both = "RuntimeError with the operator and both numbers; no leaf has got one.") {
  for (const size_t n : {1, 3}) {
    const CustomOp op = product([n](FunctionContext&, const Tensor& g) { return Tensors(n, g); });
    const Tensor x = leaf({1}), y = leaf({1}), z = op(x, y);
    CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError: q::f"));
    CHECK_FALSE(grad_of(x).defined());
    CHECK_FALSE(grad_of(y).defined());
  }
}

SB_QUESTION("It returns a gradient of another shape?",
            .both =
                "RuntimeError, unless summing makes it the input's shape, as for an input that "
                "was broadcast.") {
  const auto with = [](std::vector<SymInt> sizes) {
    return [sizes](FunctionContext&, const Tensor&) { return ones(sizes); };
  };
  CHECK_THAT(error_in_backward(times3(with({3})), leaf({1, 2})), StartsWith("RuntimeError"));
  CHECK_THAT(error_in_backward(times3(with({1})), leaf({1, 2})), StartsWith("RuntimeError"));
  const Tensor x = leaf({1, 2, 3});
  CHECK(gradient(times3(with({2, 3}))(x), x) == Values{2, 2, 2});
}

SB_QUESTION("Of another dtype?", .both = "It is cast to the input's.") {
  for (const DType dtype : {DType::Float64, DType::Int64}) {
    const CustomOp op = times3([&](FunctionContext&, const Tensor&) { return ones({1}, dtype); });
    const Tensor x = leaf({1});
    CHECK(gradient(op(x), x) == Values{1});
    CHECK(grad_of(x).dtype() == DType::Float32);
  }
}

SB_QUESTION("A complex one, for a real input?", .pytorch = "RuntimeError.",
            .here = "Its real part.",
            .better =
                "That is the gradient of a real input, by the rule that both follow in the "
                "formulas of ATen's operators.") {
  const CustomOp op =
      times3([](FunctionContext&, const Tensor&) { return ones({1}, DType::Complex64) * 4; });
  const Tensor x = leaf({1});
  CHECK(gradient(op(x), x) == Values{4});
}

SB_QUESTION("On another device?", .both = "RuntimeError.") {
  const CustomOp op = times3([](FunctionContext&, const Tensor& g) {
    return empty({1}, g.dtype(), std::nullopt, Device("meta"));
  });
  CHECK_THAT(error_in_backward(op, leaf({1})), StartsWith("RuntimeError"));
}

SB_QUESTION("None, for an input that requires a gradient?",
            .both = "It is taken: the operator says that nothing flows there.") {
  const CustomOp op = times3([](FunctionContext&, const Tensor&) { return Tensor(); });
  const Tensor x = leaf({1});
  CHECK(gradient(op(x), x).empty());
}

SB_QUESTION("A gradient for a number among the arguments?",
            .both = "RuntimeError: numbers have none.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor x, float s) -> Tensor", [](const Tensor& x, double s) {
        return x * s;
      }).register_autograd([](FunctionContext&, const Tensor& g) {
        return Tensors{g, g};
      });
  const Tensor x = leaf({1}), y = op(x, 2.0);
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("A gradient for a tensor of integers?",
            .both = "It is dropped: such a tensor requires none.") {
  const CustomOp op = product([](FunctionContext&, const Tensor& g) { return Tensors{g, g}; });
  const Tensor x = leaf({1}), i = ones({1}, DType::Int64);
  CHECK(gradient(op(x, i), x) == Values{1});
  CHECK_FALSE(grad_of(i).defined());
}

SB_QUESTION("One tensor is given for two inputs. What is its gradient?",
            .both = "The sum of both.") {
  const CustomOp op = product([](FunctionContext&, const Tensor& g) {
    return Tensors{g * 2, g * 3};
  });
  const Tensor x = leaf({1});
  CHECK(gradient(op(x, x), x) == Values{5});
}

SB_QUESTION("An input that was saved is written to before backward. What happens?",
            .both = "RuntimeError: backward needs what it was.") {
  const CustomOp op = times3(
      [](FunctionContext& ctx, const Tensor& g) { return g * ctx.saved_tensors()[0]; }, save_input);
  const Tensor x = leaf({1}), y = x * 1, z = op(y);
  add_Scalar_(y, 1);
  CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("The result was saved and is written to?", .both = "The same.") {
  const CustomOp op =
      times3([](FunctionContext& ctx, const Tensor& g) { return g * ctx.saved_tensors()[0]; },
             [](FunctionContext& ctx, const CallValues&, const CallValues& output) {
               ctx.save_for_backward({output.tensor(0)});
             });
  const Tensor x = leaf({1}), y = op(x);
  add_Scalar_(y, 1);
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("setup_context keeps a tensor in the context as any other value, and it is written to?",
            .pytorch = "Backward computes with what it is now: a wrong gradient.",
            .here = "RuntimeError when backward asks for it.",
            .better = "A gradient is never wrong in silence.") {
  const CustomOp op =
      times3([](FunctionContext& ctx, const Tensor& g) { return g * ctx.get("x").to_tensor(); },
             [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
               ctx.set("x", inputs[0]);
             });
  const Tensor x = leaf({2}), y = x * 1, z = op(y);
  CHECK(gradient(op(y), x) == Values{2});
  add_Scalar_(y, 1);
  CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError: q::f"));
}

SB_QUESTION("Is the backward of a custom operator derived again, where it is made of operators?",
            .both = "Yes, with create_graph.") {
  const CustomOp op = custom_op("q::f", [](const Tensor& x) { return x * x * x; })
                          .register_autograd(
                              [](FunctionContext& ctx, const Tensor& g) {
                                const Tensor x = ctx.saved_tensors()[0];
                                return g * x * x * 3;
                              },
                              save_input);
  const Tensor x = leaf({2});
  const Tensor first = grad({sum_all(op(x))}, {x}, {}, {.create_graph = true})[0];
  CHECK(values_of(first) == Values{12});
  CHECK(values_of(grad({sum_all(first)}, {x})[0]) == Values{12});
}

SB_QUESTION("And where it computes by pointer?",
            .both = "The second derivative is an error: the first does not require a gradient.") {
  const CustomOp op = custom_op("q::f", [](const Tensor& x) { return x * x; })
                          .register_autograd(
                              [](FunctionContext& ctx, const Tensor&) {
                                return numbers({2 * values_of(ctx.saved_tensors()[0])[0]});
                              },
                              save_input);
  const Tensor x = leaf({2});
  const Tensor first = grad({sum_all(op(x))}, {x}, {}, {.create_graph = true})[0];
  CHECK_THAT(error_of([&] { grad({sum_all(first)}, {x}); }), StartsWith("RuntimeError"));
}

SB_QUESTION("One of two results is not used. What gradient does backward get for it?",
            .both = "Zeros of its shape.") {
  Tensors seen;
  const CustomOp op = custom_op("q::f", [](const Tensor& x) {
                        return std::tuple<Tensor, Tensor>(x * 1, x * 2);
                      }).register_autograd([&](FunctionContext&, const Tensor& a, const Tensor& b) {
    seen = {a, b};
    return a + b;
  });
  const Tensor x = leaf({1, 2});
  const Tensor used = std::get<0>(op.call<std::tuple<Tensor, Tensor>>(x));
  CHECK(gradient(used, x) == Values{1, 1});
  CHECK(values_of(seen[1]) == Values{0, 0});
}

SB_QUESTION(
    "Backward throws, and is asked again. Does it run?",
    .both = "Yes, if the graph was kept or saved nothing; the thread's state is as before.") {
  int runs = 0;
  const CustomOp op = times3([&](FunctionContext&, const Tensor& g) {
    SB_CHECK_VALUE(++runs > 1, "first");
    return g * 3;
  });
  const Tensor x = leaf({1}), y = op(x);
  CHECK(error_of([&] { gradient(y, x); }) == "ValueError: first");
  CHECK(is_grad_enabled());
  CHECK(gradient(y, x) == Values{3});
}

SB_QUESTION("Backward runs a second time without retain_graph. What happens?",
            .both =
                "RuntimeError where tensors were saved; where only numbers were, it runs and "
                "adds.") {
  const CustomOp saves = times3(
      [](FunctionContext& ctx, const Tensor& g) { return g * ctx.saved_tensors()[0]; }, save_input);
  const Tensor x = leaf({1}), y = saves(x);
  gradient(y, x);
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError"));
  const CustomOp plain =
      custom_op("q::g", [](const Tensor& t) {
        return t * 3;
      }).register_autograd([](FunctionContext&, const Tensor& g) { return g * 3; });
  const Tensor w = leaf({1}), z = sum_all(plain(w));
  backward(z);
  backward(z);
  CHECK(values_of(grad_of(w)) == Values{6});
}

SB_QUESTION("Backward runs backward of another graph while it runs. Does that work?",
            .both = "Yes.") {
  const CustomOp op = times3([](FunctionContext&, const Tensor& g) {
    const GradModeGuard on(true);
    const Tensor t = leaf({1});
    gradient(t * 5, t);
    return g * grad_of(t);
  });
  const Tensor x = leaf({1});
  CHECK(gradient(op(x), x) == Values{5});
}

SB_QUESTION(
    "Backward writes to the gradient that it is given, which another node gets too. What "
    "does that one get?",
    .both = "Its own where the gradient is an expanded one, since that write is refused.") {
  const CustomOp op = times3([](FunctionContext&, const Tensor& g) {
    mul_Scalar_(g, 100);
    return g;
  });
  const Tensor x = leaf({1, 2}), w = leaf({1, 2}), y = sum_all(op(x) + w);
  CHECK_THAT(error_of([&] { backward(y); }), StartsWith("RuntimeError"));
}

SB_QUESTION("May an operator that writes to an argument have a gradient by register_autograd?",
            .both = "No: RuntimeError that asks for a functional one.") {
  CustomOp op = custom_op("q::f", "(Tensor(a!) x, Tensor y) -> Tensor",
                          [](const Tensor&, const Tensor& y) { return y * 1; });
  CHECK_THAT(
      error_of([&] {
        op.register_autograd([](FunctionContext&, const Tensor& g) { return Tensors{g, g}; });
      }),
      StartsWith("RuntimeError") && Contains("functional"));
}

SB_QUESTION(
    "An operator with a gradient hands back its argument, though its schema does not say "
    "so. Is its gradient lost?",
    .both = "No: under autograd the result is another tensor with the operator's node.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CPU, [](const Tensor& x) { return x; });
  register_autograd(
      "q::f", [](FunctionContext&, const Tensor& g) { return g * 7; }, {}, m);
  const Tensor x = leaf({1});
  CHECK(gradient(call(op, x), x) == Values{7});
}

SB_QUESTION(
    "For a list of tensors, backward gives fewer gradients than the list has, or more, or "
    "leaves one out. What happens?",
    .both = "A wrong number is a RuntimeError; one that is left out is none.") {
  size_t n = 0;
  const CustomOp op = custom_op("q::f", "(Tensor[] xs) -> Tensor", [](TensorList xs) {
                        return xs[0] * xs[1];
                      }).register_autograd([&](FunctionContext&, const Tensor& g) {
    Tensors gradients(n, g);
    if (n == 2) gradients[1] = Tensor();
    return gradients;
  });
  for (n = 1; n <= 3; ++n) {
    const Tensor x = leaf({1}), y = leaf({1}), z = op(Tensors{x, y});
    if (n == 2) {
      CHECK(gradient(z, x) == Values{1});
      CHECK_FALSE(grad_of(y).defined());
    } else {
      CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError: q::f"));
    }
  }
}

SB_QUESTION("A hook on a tensor gives a gradient of another shape, or dtype?",
            .both = "RuntimeError.") {
  const auto hooked = [](const Tensor& instead) {
    const Tensor x = leaf({1, 2}), y = x * 1;
    register_hook(y, [=](const Tensor&) { return instead; });
    return error_of([&] { gradient(y, x); });
  };
  CHECK_THAT(hooked(ones({3})), StartsWith("RuntimeError"));
  CHECK_THAT(hooked(ones({2}, DType::Float64)), StartsWith("RuntimeError"));
}

SB_QUESTION("A leaf that backward needs is written to under no_grad. What is its gradient?",
            .both = "RuntimeError in backward: the version tells that it was written to.") {
  const Tensor x = leaf({1}), y = x * x;
  {
    const NoGradGuard off;
    add_Scalar_(x, 1);
  }
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("A tensor from inference mode is saved for backward. What happens?",
            .pytorch = "RuntimeError in the call.", .here = "RuntimeError in backward.",
            .better =
                "A call whose backward never runs does no harm; neither computes with a "
                "tensor whose writes nobody counts.") {
  Tensor t;
  {
    const InferenceModeGuard inference;
    t = numbers({1}) * 2;
  }
  const Tensor x = leaf({1}), y = x * t;
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("It is written to outside of inference mode, or made to require a gradient?",
            .both = "RuntimeError for both.") {
  Tensor t;
  {
    const InferenceModeGuard inference;
    t = numbers({1}) * 2;
  }
  CHECK_THAT(error_of([&] { add_Scalar_(t, 1); }), StartsWith("RuntimeError"));
  CHECK_THAT(error_of([&] { set_requires_grad(t); }), StartsWith("RuntimeError"));
}

SB_QUESTION("Does a custom operator with a gradient have one on fake tensors?",
            .both = "Yes, a fake one of the input's shape.") {
  const CustomOp op =
      times3([](FunctionContext& ctx, const Tensor& g) { return g * ctx.saved_tensors()[0]; },
             save_input)
          .register_fake([](const Tensor& x) { return empty_like(x); });
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(leaf({1, 2, 3}));
  backward(sum_all(op(x)));
  CHECK(is_fake(grad_of(x)));
  CHECK(grad_of(x).size(0) == 3);
}

}  // namespace
}  // namespace sb::questions
