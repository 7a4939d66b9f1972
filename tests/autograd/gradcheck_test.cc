#include "switchboard/autograd/gradcheck.h"

#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::tensor_of;

Tensor leaf(std::vector<int64_t> sizes, const std::vector<double>& values,
            DType dtype = DType::Float64) {
  Tensor t = tensor_of(std::move(sizes), values, dtype);
  set_requires_grad(t);
  return t;
}
Tensor complex_leaf() {
  Tensor t = tensor_of({2}, {0, 0}, DType::Complex128);
  t.data<std::complex<double>>()[0] = {1, 2};
  t.data<std::complex<double>>()[1] = {-0.5, 0.25};
  set_requires_grad(t);
  return t;
}
DifferentiableFunction of_one(std::function<Tensor(const Tensor&)> f) {
  return [f = std::move(f)](const Tensors& in) { return Tensors{f(in[0])}; };
}

// An operator whose derivative a test gives.
SB_OP(demo_op, "gradcheck_test::op(Tensor self) -> Tensor");

class WithDerivative {
 public:
  template <class Kernel, class F>
  WithDerivative(Kernel kernel, F formula) : library_(Library::Kind::Def, "gradcheck_test") {
    library_.define(demo_op);
    library_.impl(demo_op, DispatchKey::CPU, kernel);
    derive(library_, demo_op, formula);
  }

 private:
  ScopedLibrary library_;
};

const auto kTwice = [](const Tensor& t) { return mul_Scalar(t, 2); };
const auto kSquare = [](const Tensor& t) { return mul(t, t); };
const DifferentiableFunction kDemo = of_one([](const Tensor& t) { return demo_op(t); });

TEST_CASE("right gradients pass, of several inputs and outputs") {
  const Tensor x = leaf({2, 2}, {1, -2, 3, 0.5}), y = leaf({2}, {2, -1});
  const DifferentiableFunction f = [](const Tensors& in) {
    return Tensors{mul(in[0], in[1]), sum_all(sin(in[0])), lt_Scalar(in[1], 0)};
  };
  const GradcheckReport report = gradcheck_report(f, {x, y});
  CHECK(report.to_string() == "");
  CHECK(report.passed());
  CHECK(report.compared == (4 + 1) * (4 + 2));
  gradcheck(f, {x, y});
  gradgradcheck(f, {x, y});
  CHECK_FALSE(grad_of(x).defined());
  CHECK(x.version() == 0);
}

TEST_CASE("complex numbers are differentiated by both of their parts") {
  const Tensor z = complex_leaf(), x = leaf({2}, {1, 2});
  const DifferentiableFunction f = [](const Tensors& in) {
    return Tensors{mul(in[0], in[0]), mul(in[0], in[1]), abs(in[0])};
  };
  gradcheck(f, {z, x});
  gradgradcheck(f, {z, x});
}

TEST_CASE("a derivative without its conjugate is right for real numbers only") {
  const WithDerivative op(kSquare, SB_GRAD(self, (grad, self), mul(mul_Scalar(grad, 2), self)));
  gradcheck(kDemo, {leaf({2}, {1, 3})});
  CHECK_THROWS_WITH(
      gradcheck(kDemo, {complex_leaf()}),
      "gradcheck: 4 of 8 derivatives are not those of finite differences; worst: output 0, element "
      "[0], by input 0, element [0]: analytic (2+4j), numeric (2-4j)");
}

TEST_CASE("a gradient wrong by a factor is told with the worst element") {
  const WithDerivative op(kSquare, SB_GRAD(self, (grad, self), mul(mul_Scalar(grad, 3), self)));
  const GradcheckReport report = gradcheck_report(kDemo, {leaf({2, 1}, {0.01, -4})});
  CHECK_FALSE(report.passed());
  CHECK(report.compared == 4);
  CHECK(report.mismatches == 2);
  REQUIRE(report.worst);
  CHECK(report.worst->input == "input 0");
  CHECK(report.worst->input_element == std::vector<int64_t>{1, 0});
  CHECK(report.worst->output == "output 0");
  CHECK(report.worst->output_element == std::vector<int64_t>{1, 0});
  CHECK(report.worst->analytic.real() == Approx(-12));
  CHECK(report.worst->numeric.real() == Approx(-8));
  CHECK_THROWS_AS(gradcheck(kDemo, {leaf({1}, {1})}), GradcheckError);
  CHECK_THROWS_WITH(
      gradcheck(kDemo, {leaf({2, 1}, {0.01, -4})}),
      "gradcheck: 2 of 4 derivatives are not those of finite differences; worst: output 0, element "
      "[1, 0], by input 0, element [1, 0]: analytic -12, numeric -8");
}

TEST_CASE("the tolerances and the step are the caller's") {
  const WithDerivative op(kTwice, SB_GRAD(self, (grad), mul_Scalar(grad, 2.01)));
  CHECK_FALSE(gradcheck_report(kDemo, {leaf({1}, {1})}).passed());
  CHECK(gradcheck_report(kDemo, {leaf({1}, {1})}, {.rtol = 0.01}).passed());
  CHECK(gradcheck_report(kDemo, {leaf({1}, {1})}, {.atol = 0.1, .rtol = 0}).passed());
  // |x| over a step that reaches beyond 0 has no slope.
  const auto of_abs = of_one([](const Tensor& t) { return abs(t); });
  CHECK(gradcheck_report(of_abs, {leaf({1}, {0.01})}).passed());
  CHECK_FALSE(gradcheck_report(of_abs, {leaf({1}, {0.01})}, {.eps = 1}).passed());
}

TEST_CASE("backward has to multiply by the gradient of the output, once") {
  {
    const WithDerivative op(kTwice, SB_GRAD(self, (grad), full_like(grad, 2)));
    CHECK_THROWS_WITH(
        gradcheck(kDemo, {leaf({2}, {1, 2})}),
        "gradcheck: where the gradient of output 0 is all zeros, that of input 0, "
        "element [0], is 2: backward does not multiply by the gradient of the output");
  }
  const WithDerivative op(kTwice, SB_GRAD(self, (grad), mul_Scalar(mul(grad, grad), 2)));
  CHECK_THROWS_WITH(gradcheck(kDemo, {leaf({1}, {1})}),
                    Catch::Contains("element [0]: analytic 4, numeric 2"));
}

TEST_CASE("inputs may have gaps and any order of dimensions, and may not overlap") {
  const Tensor wide = tensor_of({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, DType::Float64);
  const Tensor x = transpose(slice(wide, 0, 0, 4, 2), 0, 1);
  set_requires_grad(x);
  const auto f = of_one([](const Tensor& t) {
    CHECK_FALSE(t.is_contiguous());
    return sin(t);
  });
  gradcheck(f, {x});
  const Tensor expanded = expand(tensor_of({1, 2}, {1, 2}, DType::Float64), {3, 2});
  set_requires_grad(expanded);
  CHECK_THROWS_WITH(gradcheck(f, {expanded}),
                    "gradcheck: input 0 requires a gradient: expected elements that do not "
                    "overlap, got float64[3, 2] on cpu with strides [0, 1]; clone it first");
  CHECK_THROWS_AS(gradcheck(f, {expanded}), RuntimeError);
  // One that requires no gradient is not moved.
  gradcheck([](const Tensors& in) { return Tensors{mul(in[0], in[1])}; },
            {leaf({2}, {1, 2}), detach(expanded)});
}

TEST_CASE("what cannot be checked is refused") {
  const Tensor x = leaf({1}, {1});
  const auto f = of_one([](const Tensor& t) { return sin(t); });
  CHECK_THROWS_WITH(gradcheck(nullptr, {x}), "gradcheck: expected a function, got an empty one");
  CHECK_THROWS_AS(gradcheck(f, {ones({1})}), ValueError);
  CHECK_THROWS_WITH(gradcheck(f, {ones({1})}),
                    "gradcheck: expected an input that requires a gradient, got 1 that do not");
  CHECK_THROWS_WITH(gradcheck(f, {x, leaf({2}, {1, 2}, DType::Float32)}),
                    "gradcheck: input 1 requires a gradient: expected float64 or complex128, got "
                    "float32[2] on cpu");
  CHECK_THROWS_WITH(gradgradcheck(f, {x}, {x, x}),
                    "gradgradcheck: expected 1 grad_outputs, one for each output that requires a "
                    "gradient, got 2");
  CHECK_THROWS_WITH(gradgradcheck(of_one([](const Tensor& t) { return detach(t); }), {x}),
                    "gradgradcheck: expected an output that requires a gradient, got none");
  CHECK_THROWS_WITH(gradcheck([](const Tensors&) { return Tensors(1); }, {x}),
                    "gradcheck: output 0 is an undefined tensor");
  CHECK_THROWS_WITH(
      gradcheck([](const Tensors&) -> Tensors { SB_THROW(IndexError, "its own"); }, {x}),
      "its own");
}

TEST_CASE("a function has to give the same for the same") {
  const Tensor x = leaf({1}, {1});
  int runs = 0;
  const auto drifts = of_one([&](const Tensor& t) { return add_Scalar(t, 0.125 * runs++); });
  CHECK_THROWS_WITH(gradcheck(drifts, {x}),
                    "gradcheck: the function is not deterministic: output 0 differs by 0.125 from "
                    "one run to the next (nondet_tol 0)");
  const auto grows = of_one([&](const Tensor& t) { return expand(t, {++runs}); });
  runs = 0;
  CHECK_THROWS_WITH(gradcheck(grows, {x}),
                    "gradcheck: output 0 was float64[1] on cpu, and float64[2] on cpu when the "
                    "function was run again");
  runs = 0;
  CHECK_THROWS_WITH(
      gradcheck([&](const Tensors& in) { return Tensors(static_cast<size_t>(++runs), sin(in[0])); },
                {x}),
      "gradcheck: the function gave 1 outputs, and 2 when it was run again");
}

TEST_CASE("backward has to give the same for the same") {
  static int runs;
  runs = 0;
  const WithDerivative op(kTwice, SB_GRAD(self, (grad), mul_Scalar(grad, 2 + 1e-6 * ++runs)));
  CHECK_THROWS_WITH(gradcheck(kDemo, {leaf({1}, {1})}),
                    "gradcheck: backward is not deterministic: the gradient of input 0 differs by "
                    "2e-06 from one run to the next (nondet_tol 0)");
  CHECK(gradcheck_report(kDemo, {leaf({1}, {1})}, {.nondet_tol = 1e-4}).passed());
}

TEST_CASE("what requires no gradient and depends on the inputs is found where nothing does") {
  CHECK_THROWS_WITH(
      gradcheck(of_one([](const Tensor& t) { return detach(kTwice(t)); }), {leaf({2}, {1, 2})}),
      "gradcheck: output 0 does not require a gradient, and its element [0] depends on input 0, "
      "element [0]: numeric 2");
  gradcheck(of_one([](const Tensor& t) { return ones_like(detach(t)); }), {leaf({2}, {1, 2})});
  gradcheck(of_one([](const Tensor& t) { return lt_Scalar(t, 0); }), {leaf({2}, {1, 2})});
  // Beside one that does, it may be marked as not differentiable.
  gradcheck(
      [](const Tensors& in) {
        return Tensors{sin(in[0]), detach(in[0])};
      },
      {leaf({2}, {1, 2})});
}

TEST_CASE("a function that holds its tensors itself is found") {
  const Tensor x = leaf({1}, {1});
  CHECK_THROWS_WITH(gradcheck([x](const Tensors&) { return Tensors{sin(x)}; }, {x}),
                    "gradcheck: the outputs require a gradient and were computed from none of the "
                    "inputs that the function was given");
}

TEST_CASE("an input that is not used has a gradient of zeros, and one of no elements has none") {
  const Tensor x = leaf({2}, {1, 2}), unused = leaf({1}, {3}), none = leaf({0, 2}, {});
  gradcheck([](const Tensors& in) { return Tensors{sin(in[0]), sin(in[2])}; }, {x, unused, none});
  gradgradcheck(
      [](const Tensors& in) {
        return Tensors{sin(in[0]), sin(in[2])};
      },
      {x, unused, none});
}

TEST_CASE("a derivative that cannot be derived again is found by gradgradcheck only") {
  // The gradient of self is made of what is no function of self any more.
  const WithDerivative op(kSquare,
                          SB_GRAD(self, (grad, self), mul(mul_Scalar(grad, 2), detach(self))));
  const Tensor x = leaf({1}, {3});
  gradcheck(kDemo, {x});
  const Tensor grad_output = leaf({1}, {0.5});
  CHECK_THROWS_WITH(
      gradgradcheck(kDemo, {x}, {grad_output}),
      "gradgradcheck: 1 of 2 derivatives are not those of finite differences; worst: gradient of "
      "input 0, element [0], by input 0, element [0]: analytic 0, numeric 1");
  // With gradients of outputs that are held still, nothing of it requires a gradient.
  CHECK_THROWS_WITH(gradgradcheck(kDemo, {x}, {detach(grad_output)}),
                    "gradgradcheck: gradient of input 0 does not require a gradient, and its "
                    "element [0] depends on input 0, element [0]: numeric 1");
}

TEST_CASE("gradgradcheck names gradients of outputs") {
  const WithDerivative op(kTwice, SB_GRAD(self, (grad), mul_Scalar(detach(grad), 2)));
  CHECK_THROWS_WITH(gradgradcheck(kDemo, {leaf({1}, {3})}, {leaf({1}, {0.5})}),
                    "gradgradcheck: gradient of input 0 does not require a gradient, and its "
                    "element [0] depends on grad output 0, element [0]: numeric 2");
}

TEST_CASE("gradients are checked where the caller records nothing, and on several threads") {
  std::vector<std::thread> threads;
  std::atomic<int> passed{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&passed] {
      const Tensor x = leaf({2, 2}, {1, -2, 3, 0.5});
      const NoGradGuard off;
      const auto f = of_one([](const Tensor& t) { return mm(t, sin(t)); });
      if (gradcheck_report(f, {x}).passed() && gradgradcheck_report(f, {x}).passed()) ++passed;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == 4);
}

}  // namespace
}  // namespace sb
