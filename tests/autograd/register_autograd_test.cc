#include "switchboard/autograd/register_autograd.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using Floats = std::vector<float>;

SB_OP(declared_square, "reg_test::declared(Tensor x) -> Tensor");

Tensor leaf(std::vector<SymInt> sizes = {2}) {
  Tensor t = ones(sizes);
  set_requires_grad(t);
  return t;
}
Tensor times(const Tensor& x, double factor) { return mul_Scalar(x, factor); }

Floats values(const Tensor& t) {
  const Tensor dense = contiguous(reshape(t, {-1}));
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}
Floats grad_values(const Tensor& leaf) { return values(grad_of(leaf)); }

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// A library with operators whose kernels record nothing by themselves.
struct TestOps {
  Library m{Library::Kind::Def, "reg_test"};
  OperatorHandle scale = m.define("scale(Tensor x, float factor=3) -> Tensor");
  TestOps() {
    m.impl("scale", DispatchKey::CPU,
           [](const Tensor& x, double factor) { return times(x, factor); });
  }
  Tensor call(const OperatorHandle& op, std::vector<IValue> arguments) {
    return op.call(std::move(arguments))[0].to_tensor();
  }
};

std::vector<Tensor> scale_backward(FunctionContext& ctx, const Tensor& grad) {
  return {times(grad, ctx.get("factor").to_double()), Tensor()};
}
void scale_setup(FunctionContext& ctx, const CallValues& inputs, const CallValues& output) {
  CHECK(ctx.needs_input_grad(0));
  CHECK_FALSE(ctx.needs_input_grad(1));
  CHECK_FALSE(is_grad_enabled());
  CHECK(inputs.size() == 2);
  CHECK(output.tensor(0).defined());
  ctx.set("factor", inputs["factor"]);
}

TEST_CASE("an operator has the gradient that was registered, as long as the handle lives") {
  TestOps ops;
  const Tensor x = leaf();
  {
    const RegistrationHandle handle =
        register_autograd("reg_test::scale", scale_backward, scale_setup);
    const Tensor y = ops.call(ops.scale, {x, 5.0});
    CHECK(grad_fn(y)->name() == "reg_test::scale backward");
    backward(sum(y));
    CHECK(grad_values(x) == Floats{5, 5});
    backward(sum(ops.call(ops.scale, {x})));  // the default is among the inputs
    CHECK(grad_values(x) == Floats{8, 8});
  }
  const Tensor y = ops.call(ops.scale, {x});
  CHECK_THAT(error_of([&] { backward(sum(y)); }), Contains("no derivative is registered"));
}

TEST_CASE("a gradient goes with the library that it is registered in") {
  TestOps ops;
  const Tensor x = leaf();
  {
    Library library(Library::Kind::Impl, "reg_test");
    register_autograd(OpOverload(ops.scale), scale_backward, scale_setup, library);
    backward(sum(ops.call(ops.scale, {x})));
    CHECK(grad_values(x) == Floats{3, 3});
  }
  CHECK_THAT(error_of([&] { backward(sum(ops.call(ops.scale, {x}))); }),
             Contains("no derivative is registered"));
}

TEST_CASE("a tensor that the context keeps under a name must not be written to before backward") {
  TestOps ops;
  register_autograd(
      OpOverload(ops.scale),
      [](FunctionContext& ctx, const Tensor& grad) -> std::vector<Tensor> {
        return {mul(grad, ctx.get("x").to_tensor()), Tensor()};
      },
      [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
        ctx.set("x", inputs["x"]);
      },
      ops.m);
  const Tensor x = leaf(), y = times(x, 2), z = ops.call(ops.scale, {y});
  mul_Scalar_(y, 3);
  CHECK(error_of([&] { backward(sum(z)); }) ==
        "reg_test::scale backward: the tensor that was set as 'x' has been modified by an inplace "
        "operation; write to a clone, or after backward");
}

TEST_CASE("a graph that was recorded outlives the registration") {
  TestOps ops;
  const Tensor x = leaf();
  Tensor y;
  {
    const auto handle = register_autograd("reg_test::scale", scale_backward, scale_setup);
    y = ops.call(ops.scale, {x});
  }
  backward(sum(y));
  CHECK(grad_values(x) == Floats{3, 3});
}

TEST_CASE("nothing is recorded where nothing requires a gradient, and setup_context does not run") {
  TestOps ops;
  int runs = 0;
  const auto handle = register_autograd(
      "reg_test::scale", scale_backward,
      [&runs](FunctionContext&, const CallValues&, const CallValues&) { ++runs; });
  CHECK_FALSE(requires_grad(ops.call(ops.scale, {ones({2})})));
  const NoGradGuard no_grad;
  CHECK_FALSE(requires_grad(ops.call(ops.scale, {leaf()})));
  CHECK(runs == 0);
}

TEST_CASE("the operator of SB_OP is registered by its handle, and derived twice") {
  Library m(Library::Kind::Def, "reg_test");
  m.define(declared_square);
  m.impl(declared_square, DispatchKey::CPU, [](const Tensor& x) { return mul(x, x); });
  register_autograd(
      declared_square,
      [](FunctionContext& ctx, const Tensor& grad) {
        return mul(grad, times(ctx.saved_tensors()[0], 2));
      },
      [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
        ctx.save_for_backward({inputs.tensor("x")});
      },
      m);
  const Tensor x = full({3}, 0.7, DType::Float64);
  set_requires_grad(x);
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{declared_square(in[0])};
  };
  CHECK_NOTHROW(gradcheck(f, {x}));
  CHECK_NOTHROW(gradgradcheck(f, {x}));
}

TEST_CASE("keyword-only arguments come apart, and have no gradient") {
  TestOps ops;
  const OperatorHandle op =
      ops.m.define("blend(Tensor x, Tensor y, *, float weight=0.5) -> Tensor");
  ops.m.impl("blend", DispatchKey::CPU, [](const Tensor& x, const Tensor& y, double weight) {
    return add(times(x, weight), times(y, 1 - weight));
  });
  register_autograd(
      "reg_test::blend",
      [](FunctionContext& ctx, const Tensor& grad) {
        const double weight = ctx.get("weight").to_double();
        return std::vector<Tensor>{times(grad, weight), times(grad, 1 - weight)};
      },
      [](FunctionContext& ctx, const CallValues& inputs, const CallValues& keyword_only,
         const CallValues&) {
        CHECK(inputs.size() == 2);
        CHECK(keyword_only.size() == 1);
        CHECK_THROWS_WITH(inputs["weight"], "reg_test::blend: no value 'weight'; there are: x, y");
        CHECK_THROWS_WITH(inputs[2], "reg_test::blend: no value 2, there are 2");
        ctx.set("weight", keyword_only["weight"]);
      },
      ops.m);
  const Tensor x = leaf(), y = leaf();
  backward(sum(op.call({x, y}, {{"weight", 0.25}})[0].to_tensor()));
  CHECK(grad_values(x) == Floats{0.25, 0.25});
  CHECK(grad_values(y) == Floats{0.75, 0.75});
}

TEST_CASE("lists of tensors, results of several kinds and missing tensors have their places") {
  TestOps ops;
  const OperatorHandle op =
      ops.m.define("mix(Tensor[] xs, Tensor? bias, int n) -> (Tensor, int, Tensor[])");
  ops.m.impl("mix", DispatchKey::CPU, [](TensorList xs, const std::optional<Tensor>&, int64_t n) {
    std::vector<Tensor> all;
    for (const Tensor& x : xs) all.push_back(times(x, static_cast<double>(n)));
    return std::tuple<Tensor, int64_t, std::vector<Tensor>>(times(xs[0], 2), 7, all);
  });
  register_autograd(
      "reg_test::mix",
      [](FunctionContext& ctx, const Tensor& first, const Tensor& number, TensorList list) {
        CHECK_FALSE(number.defined());
        CHECK(ctx.needs_input_grad(0, 0));
        CHECK_FALSE(ctx.needs_input_grad(0, 1));
        CHECK_FALSE(ctx.needs_input_grad(1));
        return std::tuple<std::vector<Tensor>, std::nullopt_t, std::nullopt_t>(
            {add(times(first, 2), times(list[0], 3)), times(list[1], 3)}, std::nullopt,
            std::nullopt);
      },
      {}, ops.m);
  const Tensor x = leaf();
  const std::vector<IValue> results = op.call({std::vector<Tensor>{x, ones({2})}, IValue(), 3});
  CHECK(results[1].to_int() == 7);
  const TensorList list = results[2].to_tensor_list();
  CHECK(requires_grad(list[0]));
  backward(sum(add(results[0].to_tensor(), times(list[0], 10))));
  CHECK(grad_values(x) == Floats{32, 32});
}

TEST_CASE("a wrong number of gradients is an error that names the operator and both numbers") {
  TestOps ops;
  size_t n = 0;
  register_autograd(
      "reg_test::scale",
      [&n](FunctionContext&, const Tensor& grad) { return std::vector<Tensor>(n, grad); }, {},
      ops.m);
  const auto run = [&](size_t count) {
    n = count;
    return error_of([&] { backward(sum(ops.call(ops.scale, {leaf(), 2.0}))); });
  };
  CHECK(run(1) == "reg_test::scale backward: expected 2 gradients, one for each input, got 1");
  CHECK(run(3) == "reg_test::scale backward: expected 2 gradients, one for each input, got 3");
  CHECK(run(2) ==
        "reg_test::scale backward: gradient 1: expected None, as input 1 is no tensor, got "
        "float32[2] on cpu");
}

TEST_CASE("gradients of arguments that were not passed may be left out") {
  TestOps ops;
  size_t n = 1;
  register_autograd(
      "reg_test::scale",
      [&n](FunctionContext&, const Tensor& grad) {
        std::vector<Tensor> grads(n);
        if (n > 0) grads[0] = times(grad, 3);
        return grads;
      },
      {}, ops.m);
  const auto run = [&](std::vector<IValue> arguments) {
    return error_of([&] { backward(sum(ops.call(ops.scale, std::move(arguments)))); });
  };
  const Tensor x = leaf();
  CHECK(run({x}) == "no error");
  CHECK(run({x, 3.0}) == "no error");  // as if it had not been passed
  CHECK(grad_values(x) == Floats{6, 6});
  CHECK(run({leaf(), 2.0}) ==
        "reg_test::scale backward: expected 2 gradients, one for each input, got 1");
  n = 0;
  CHECK(run({leaf()}) ==
        "reg_test::scale backward: expected 1 or 2 gradients, one for each input, got 0");
}

TEST_CASE("the newest gradient counts, and the one before when it goes") {
  TestOps ops;
  const auto gradient = [](double factor) {
    return [factor](FunctionContext&, const Tensor& grad) { return times(grad, factor); };
  };
  register_autograd("reg_test::scale", gradient(3), {}, ops.m);
  const auto derived = [&] {
    const Tensor x = leaf();
    backward(sum(ops.call(ops.scale, {x})));
    return grad_values(x);
  };
  {
    const RegistrationHandle newer = register_autograd("reg_test::scale", gradient(4));
    CHECK(derived() == Floats{4, 4});
  }
  CHECK(derived() == Floats{3, 3});
}

TEST_CASE("what cannot have a gradient in this way is refused, with its schema") {
  TestOps ops;
  ops.m.define("writes(Tensor(a!) x) -> ()");
  ops.m.define("views(Tensor(a) x, Tensor y) -> Tensor(a)");
  ops.m.define("out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  ops.m.define("nothing(Tensor x) -> ()");
  ops.m.define("keyword(Tensor x, *, Tensor? w=None) -> Tensor");
  const auto refused = [](const char* op) {
    return error_of([op] {
      register_autograd(op, [](FunctionContext&, const Tensor& g) { return g; }).release();
    });
  };
  const std::string expected =
      "expected an operator that returns something, writes to no argument and returns no view, "
      "unless it is of one tensor and the only result, got ";
  CHECK(refused("reg_test::writes") ==
        "register_autograd: reg_test::writes: " + expected +
            "reg_test::writes(Tensor(a!) x) -> (); define a functional operator and register its "
            "gradient");
  CHECK_THAT(refused("reg_test::views"),
             Contains("reg_test::views(Tensor(a) x, Tensor y) -> Tensor(a);"));
  CHECK_THAT(refused("reg_test::out"), Contains("reg_test::out: an out= form has no gradient"));
  CHECK_THAT(refused("reg_test::nothing"), Contains("reg_test::nothing(Tensor x) -> ();"));
  CHECK(refused("reg_test::keyword") ==
        "register_autograd: reg_test::keyword: expected positional tensors only, got 'w', which is "
        "keyword-only, in reg_test::keyword(Tensor x, *, Tensor? w=None) -> Tensor");
  CHECK_THROWS_AS(
      register_autograd("reg_test::keyword", [](FunctionContext&, const Tensor& g) { return g; }),
      NotImplementedError);
  CHECK_THAT(refused("reg_test::absent"), Contains("reg_test::absent"));
}

TEST_CASE("functions that do not fit the schema are found out when they are registered") {
  TestOps ops;
  ops.m.define("two(Tensor x) -> (Tensor, Tensor[])");
  ops.m.define("keyword_number(Tensor x, *, int n=1) -> Tensor");
  const auto one = [](FunctionContext&, const Tensor& g) { return g; };
  const auto swapped = [](FunctionContext&, TensorList, const Tensor& g) { return g; };
  const auto all = [](FunctionContext&, TensorList grads) { return grads[0]; };
  CHECK(error_of([&] { register_autograd("reg_test::two", one, {}, ops.m); }) ==
        "register_autograd: reg_test::two: backward: expected a parameter for the gradient of each "
        "of 2 results, got 1");
  CHECK(
      error_of([&] { register_autograd("reg_test::two", swapped, {}, ops.m); }) ==
      "register_autograd: reg_test::two: backward: parameter 1, the gradient of result 0: expected "
      "a Tensor, got a TensorList");
  CHECK(error_of([&] { register_autograd("reg_test::two", all, {}, ops.m); }) == "no error");
  const auto three = [](FunctionContext&, const CallValues&, const CallValues&) {};
  const auto four = [](FunctionContext&, const CallValues&, const CallValues&, const CallValues&) {
  };
  CHECK(error_of([&] { register_autograd("reg_test::keyword_number", one, three, ops.m); }) ==
        "register_autograd: reg_test::keyword_number: setup_context: expected (ctx, inputs, "
        "keyword_only_inputs, output), as the operator has keyword-only arguments, got one of 3 "
        "parameters: reg_test::keyword_number(Tensor x, *, int n=1) -> Tensor");
  CHECK_THAT(error_of([&] { register_autograd("reg_test::scale", one, four, ops.m); }),
             Contains("expected (ctx, inputs, output), as the operator has no keyword-only"));
  CHECK(error_of([&] { register_autograd("reg_test::scale", one, three, ops.m); }) == "no error");
}

TEST_CASE("a kernel that returns its argument does not lose the registered gradient") {
  TestOps ops;
  const OperatorHandle op = ops.m.define("same(Tensor x) -> Tensor");
  ops.m.impl("same", DispatchKey::CPU, [](const Tensor& x) { return x; });
  register_autograd(
      op.name().to_string(), [](FunctionContext&, const Tensor& g) { return times(g, 4); }, {},
      ops.m);
  const Tensor x = leaf();
  const Tensor y = ops.call(op, {x});
  CHECK_FALSE(y.is_same(x));
  backward(sum(y));
  CHECK(grad_values(x) == Floats{4, 4});
}

TEST_CASE("what an operator is composed of is not recorded below its own gradient") {
  TestOps ops;
  const OperatorHandle op = ops.m.define("composed(Tensor x) -> Tensor");
  ops.m.impl("composed", DispatchKey::CompositeExplicitAutograd,
             [](const Tensor& x) { return mul(x, x); });
  register_autograd(
      "reg_test::composed", [](FunctionContext&, const Tensor& g) { return times(g, 100); }, {},
      ops.m);
  const Tensor x = leaf();
  backward(sum(ops.call(op, {x})));
  CHECK(grad_values(x) == Floats{100, 100});
}

TEST_CASE("an operator that has the gradients of its parts takes no other") {
  TestOps ops;
  ops.m.define("implicit(Tensor x) -> Tensor");
  ops.m.impl("implicit", DispatchKey::CompositeImplicitAutograd,
             [](const Tensor& x) { return mul(x, x); });
  CHECK_THAT(error_of([&] {
               register_autograd(
                   "reg_test::implicit", [](FunctionContext&, const Tensor& g) { return g; }, {},
                   ops.m);
             }),
             Contains("reg_test::implicit: the operator has a CompositeImplicitAutograd kernel"));
}

TEST_CASE("what setup_context or backward throws comes out, and leaves the operator as it was") {
  TestOps ops;
  bool fail = true;
  register_autograd(
      "reg_test::scale",
      [](FunctionContext&, const Tensor& g) {
        return std::vector<Tensor>{g, Tensor()};
      },
      [&fail](FunctionContext&, const CallValues&, const CallValues&) {
        if (fail) SB_THROW(ValueError, "set up wrongly");
      },
      ops.m);
  const Tensor x = leaf();
  CHECK(error_of([&] { ops.call(ops.scale, {x}); }) == "set up wrongly");
  CHECK(is_grad_enabled());
  fail = false;
  backward(sum(ops.call(ops.scale, {x})));
  CHECK(grad_values(x) == Floats{1, 1});
}

}  // namespace
}  // namespace sb
