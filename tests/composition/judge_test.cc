// The judge catches what breaks the law, and nothing else.

#include "switchboard/tests/composition/judge.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::composition {
namespace {

using Catch::Matchers::Contains;
using internal::ArgumentPlan;
using Kind = Verdict::Kind;

// One input of float64[2, 2].
ArgumentPlan square() {
  const Tensor x = add_Scalar(zeros({2, 2}, DType::Float64), 3);
  return ArgumentPlan::of({x});
}
// A layer of this test: it runs f, and then does something to it.
template <auto kRun>
Layer layer_that() {
  return {.name = "wrong",
          .wrap = [](TensorFunction f, const ArgumentPlan&) -> TensorFunction {
            return [f = std::move(f)](const Tensors& in) -> Tensors { return kRun(f, in); };
          },
          .words = {"wrong layer"}};
}
Verdict judged(const Layer& layer, TensorFunction f) {
  return Judge(std::move(f), square()).judge({&layer});
}
Tensors twice(const Tensors& in) { return {mul_Scalar(in[0], 2)}; }
Tensors double_in_place(const Tensors& in) {
  mul_Scalar_(in[0], 2);
  return {};
}

TEST_CASE("A layer that changes nothing passes") {
  const Layer right =
      layer_that<[](const TensorFunction& f, const Tensors& in) { return f(in); }>();
  CHECK(judged(right, twice).kind == Kind::Passed);
  CHECK(judged(right, double_in_place).kind == Kind::Passed);
}

TEST_CASE("A layer that changes an element of a result fails") {
  const Verdict v = judged(layer_that<[](const TensorFunction& f, const Tensors& in) {
                             Tensors results = f(in);
                             add_Scalar_(select(select(results[0], 0, 1), 0, 0), 1);
                             return results;
                           }>(),
                           twice);
  CHECK(v.kind == Kind::Failed);
  CHECK_THAT(v.message, Contains("result 0, element [1, 0] is 7, not 6"));
}

TEST_CASE("A layer that gives another dtype, or other strides, fails") {
  CHECK(judged(layer_that<[](const TensorFunction& f, const Tensors& in) {
                 return Tensors{_to_copy(f(in)[0], DType::Float32)};
               }>(),
               twice)
            .message == "result 0 has dtype float32, not float64");
  CHECK(judged(layer_that<[](const TensorFunction& f, const Tensors& in) {
                 return Tensors{transpose(f(in)[0], 0, 1)};
               }>(),
               twice)
            .message == "result 0 has strides [1, 2], not [2, 1]");
}

TEST_CASE("A layer that gives more results, or fewer, fails") {
  CHECK(judged(layer_that<[](const TensorFunction&, const Tensors&) { return Tensors(); }>(), twice)
            .message == "0 results, not 1");
}

TEST_CASE("A layer that loses a write to an input fails") {
  const Verdict v = judged(
      layer_that<[](const TensorFunction& f, const Tensors& in) { return f({clone(in[0])}); }>(),
      double_in_place);
  CHECK(v.message == "input 0, element [0, 0] is 3, not 6");
}

TEST_CASE("A layer that writes to an input in secret fails, also beside what the input shows") {
  const Layer secret = layer_that<[](const TensorFunction& f, const Tensors& in) {
    Tensors results = f(in);
    add_Scalar_(as_strided(in[0], {1}, {1}, 3), 7);
    return results;
  }>();
  const Tensor memory = zeros({4}, DType::Float32);
  Judge judge(twice, ArgumentPlan::of({slice(memory, 0, 0, 2, 1)}));
  const Verdict v = judge.judge({&secret});
  CHECK(v.message == "the storage of input 0, element [3] is 7, not 0");
}

TEST_CASE("A layer whose results share memory otherwise fails") {
  const Layer copies = layer_that<[](const TensorFunction& f, const Tensors& in) {
    return Tensors{clone(f(in)[0])};
  }>();
  const Layer views = layer_that<[](const TensorFunction& f, const Tensors& in) {
    return Tensors{alias(f(in)[0])};
  }>();
  const TensorFunction view = [](const Tensors& in) { return Tensors{select(in[0], 0, 1)}; };
  const TensorFunction same = [](const Tensors& in) { return in; };
  CHECK(judged(copies, view).message == "not so: result 0 shares memory with input 0");
  CHECK(judged(copies, same).message == "not so: result 0 is input 0 itself");
  CHECK(judged(views, same).message == "not so: result 0 is input 0 itself");
  CHECK(judged(views, view).kind == Kind::Passed);
}

TEST_CASE("A layer under which gradients are lost fails") {
  const Layer cut = layer_that<[](const TensorFunction& f, const Tensors& in) {
    Tensors results = f(in);
    for (Tensor& t : results) t = detach(t);
    return results;
  }>();
  Judge judge(twice, square());
  CHECK(judge.judge({&cut}).kind == Kind::Passed);  // without gradients, nobody sees it
  const Layer grad = grad_layer();
  const Verdict v = judge.judge({&cut, &grad});
  CHECK(v.kind == Kind::Failed);
  CHECK_THAT(v.message, Contains("result 2, element [0, 0]"));  // after the result and the input
}

template <int kWhich>
Layer throwing() {
  return layer_that<[](const TensorFunction&, const Tensors&) -> Tensors {
    SB_THROW(NotImplementedError, kWhich == 0   ? "demo::f: has no rule in the wrong layer"
                                  : kWhich == 1 ? "the wrong layer has no rule"
                                                : "demo::f: has no rule");
  }>();
}

TEST_CASE("An error is a refusal where it names an operator and a layer of the stack") {
  const Verdict refused = judged(throwing<0>(), twice);
  CHECK(refused.kind == Kind::Refused);
  CHECK(refused.op == "demo::f");
  CHECK(refused.layer == "wrong");
  CHECK(judged(throwing<1>(), twice).kind == Kind::Failed);
  CHECK(judged(throwing<2>(), twice).kind == Kind::Failed);
}

TEST_CASE("Errors by which an operator refuses its arguments are no refusals of a layer") {
  const Layer layer = layer_that<[](const TensorFunction&, const Tensors&) -> Tensors {
    SB_THROW(TypeError, "demo::f: argument 0 in the wrong layer: expected a tensor");
  }>();
  CHECK(judged(layer, twice).kind == Kind::Failed);
}

TEST_CASE("A layer under which an error of the program is lost fails") {
  const Layer quiet = layer_that<[](const TensorFunction&, const Tensors&) { return Tensors(); }>();
  const Verdict v = judged(quiet, [](const Tensors& in) { return Tensors{select(in[0], 0, 5)}; });
  CHECK(v.kind == Kind::Failed);
  CHECK_THAT(v.message, Contains("does not throw; eager throws IndexError"));
}

TEST_CASE("A program that reads memory which nothing was written to is not determined") {
  CHECK(Judge(twice, square()).is_determined());
  CHECK_FALSE(Judge([](const Tensors&) { return Tensors{empty({8})}; }, square()).is_determined());
}

// Operators that are wrong.
SB_LIBRARY_FRAGMENT(composition_judge_test, m) {
  // The shape rule forgets a dimension.
  m.define("wrong_shape(Tensor x) -> Tensor");
  m.impl("wrong_shape", DispatchKey::CPU, [](const Tensor& x) { return mul_Scalar(x, 2); });
  m.impl("wrong_shape", DispatchKey::Meta, [](const Tensor& x) { return select(x, 0, 0); });
  // The form without mutation is another function.
  m.define("wrong_form(Tensor self) -> Tensor");
  m.impl("wrong_form", DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x) { return mul_Scalar(x, 2); });
  m.define("wrong_form_(Tensor(a!) self) -> Tensor(a!)");
  m.impl("wrong_form_", DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x) -> Tensor { return mul_Scalar_(x, 3); });
  // The schema says that nothing is written to.
  m.define("secret_write(Tensor x) -> Tensor");
  m.impl("secret_write", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
    add_Scalar_(x, 1);
    return clone(x);
  });
}

std::string broken(std::string_view layers, std::string_view op) {
  return broken_by(layers, [op](const Tensors& in) { return call(op, {in[0]}); },
                   {add_Scalar(zeros({2, 2}, DType::Float64), 3)});
}

TEST_CASE("An operator with a wrong shape rule is caught under fake") {
  CHECK(broken("fake", "composition_judge_test::wrong_shape") ==
        "result 0 has sizes [2], not [2, 2]");
}
TEST_CASE("An operator whose functional form is another function is caught by functionalize") {
  CHECK(broken("functionalize", "composition_judge_test::wrong_form_") ==
        "result 0, element [0, 0] is 6, not 9");
}
TEST_CASE("An operator that writes against its schema is refused by watch, by its name") {
  const TensorFunction f = [](const Tensors& in) {
    return call("composition_judge_test::secret_write", {in[0]});
  };
  const Verdict v = Judge(f, square()).judge(parse_stack("watch"));
  CHECK(v.kind == Kind::Refused);
  CHECK(v.op == "composition_judge_test::secret_write");
}

TEST_CASE("A gradient may be as coarse as what it was computed from") {
  const Tensor x = add_Scalar(zeros({1}, DType::Float64), -0.19);
  // Its own gradient is computed from the result, which is rounded; that of celu from the input.
  const auto of = [](DType dtype) {
    return [dtype](const Tensors& in) {
      const Tensors half = call("aten::to.dtype", {in[0], dtype});
      return call("aten::celu_", {half[0]});
    };
  };
  CHECK(broken_by("functional_mode, grad", of(DType::Float16), {x}) == "");
  // And no coarser.
  const Layer wrong = layer_that<[](const TensorFunction& f, const Tensors& in) {
    Tensors results = f(in);
    for (Tensor& t : results) t = mul_Scalar(t, 1.02);
    return results;
  }>();
  for (DType dtype : {DType::Float16, DType::Float64})
    CHECK(Judge(of(dtype), ArgumentPlan::of({x})).judge({&find_layer("grad"), &wrong}).kind ==
          Kind::Failed);
}

TEST_CASE("A branch in a graph may have a gradient that eager lost to a write") {
  const auto f = [](const Tensors& in) {
    const Tensors taken = cond(
        in[0], [](const Tensors& x) { return x; },
        [](const Tensors& x) { return call("aten::exp2", {x[0]}); }, {in[0]});
    return call("aten::floor_", {taken[0]});
  };
  const ArgumentPlan zero = ArgumentPlan::of({zeros({})});
  const LayerStack stack = parse_stack("grad, trace");
  CHECK(Judge(f, zero, {.of_branches = {true}}).judge(stack).kind == Kind::DoesNotApply);
  CHECK(Judge(f, zero).judge(stack).kind == Kind::Failed);
}

TEST_CASE("A function that looks beyond its inputs is none for a custom operator") {
  const Tensor memory = tensor_with({4}, DType::Float64, {1, 2, 3, 4});
  const Tensor x = as_strided(memory, {2}, {1}, 0);
  const auto kind = [&](int64_t stride) {
    Judge judge(
        [=](const Tensors& in) -> Tensors {
          return {mul_Scalar(as_strided(in[0], {2}, {stride}, std::nullopt), 2)};
        },
        ArgumentPlan::of({x}));
    return judge.judge({&find_layer("custom"), &find_layer("grad")}).kind;
  };
  CHECK(kind(1) == Kind::Passed);
  CHECK(kind(2) == Kind::DoesNotApply);

  // What it looks at may be its inputs' own, wherever these lie.
  const auto apart = [](const Tensors& in) -> Tensors {
    return {mul_Scalar(as_strided(in[0], {2}, {2}, std::nullopt), 2)};
  };
  Judge judge(apart, ArgumentPlan::of({as_strided(memory, {2}, {2}, 1)}));
  CHECK(judge.judge({&find_layer("custom")}).kind == Kind::Passed);
}

}  // namespace
}  // namespace sb::composition
