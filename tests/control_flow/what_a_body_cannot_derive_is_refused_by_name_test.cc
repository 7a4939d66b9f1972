// Where a gradient under a trace would not be the one of the program, an error says so, naming the
// operator, the function and the layer.

#include "switchboard/autograd/function.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/tests/control_flow/gradient_cases.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensors leaf() { return as_leaves({tensor_of({2}, {2, 3}, DType::Float64)}); }
template <class F>
Program cond_of(F f) {
  return [f](const Tensors& in) { return cond(sum(in[0]) > 0, f, f, {in[0]}); };
}

TEST_CASE("functions that draw random numbers") {
  const Program drops = cond_of([](const Tensor& x) { return x * rand_like(x); });
  CHECK(
      message([&] { trace(drops, leaf()); }) ==
      "NotImplementedError: higher_order::cond: true_fn: under TracingMode: aten::rand_like draws "
      "random numbers, and a gradient would draw them again; draw them outside of the function, "
      "or call it under no_grad");
  const NoGradGuard no_grad;
  CHECK(message([&] { trace(drops, leaf()); }) == "");
}

TEST_CASE("writes to what a gradient needs") {
  CHECK_THAT(message([&] { trace(cond_of([](const Tensor& x) { return x += 1; }), leaf()); }),
             Contains("higher_order::cond: true_fn: under TracingMode") &&
                 Contains("aten::add_.Scalar writes to the input 'arg0'"));
  const auto hidden = [](const Tensor& x) {
    const Tensor y = x * 2;
    {
      const NoGradGuard no_grad;
      y *= 3;
    }
    return y;
  };
  CHECK_THAT(message([&] { trace(cond_of(hidden), leaf()); }),
             Contains("aten::mul_.Scalar writes under no_grad to float64[2] on cpu"));
}

TEST_CASE("what is computed under no_grad has no gradient, in graphs of gradients neither") {
  const Program program = cond_of([](const Tensor& x) {
    Tensor factor;
    {
      const NoGradGuard no_grad;
      factor = x * x;
    }
    return x * x * factor;
  });
  for (const int order : {1, 2}) {
    const Program gradients = gradients_of(program, order);
    check_close(trace(gradients, leaf()).run(leaf()), gradients(leaf()));
  }
}

// Its gradient is not its derivative.
struct Straight : Function<Straight> {
  static Tensor forward(FunctionContext&, const Tensor& x) { return x * x * x; }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return grad * grad; }
};

TEST_CASE("a Function is derived by its own backward; its second derivative is refused") {
  const Program program = cond_of([](const Tensor& x) { return Straight::apply(x) * x; });
  const Program first = gradients_of(program), second = gradients_of(program, 2);
  check_close(trace(first, leaf()).run(leaf()), first(leaf()));
  CHECK_THAT(message([&] { trace(second, leaf()); }),
             Contains("NotImplementedError") && Contains("higher_order::cond: true_fn") &&
                 Contains("the second derivative of") && Contains("Straight"));
}

TEST_CASE("a result that is a view of what was given is not written to") {
  CHECK_THAT(message([&] {
               trace(
                   [](const Tensors& in) {
                     const Tensor y = in[0] * 1;
                     const auto same = [](const Tensor& x) { return x; };
                     const Tensors r = cond(sum(y) > 0, same, same, {y});
                     r[0] *= 2;
                     return r;
                   },
                   leaf());
             }),
             Contains("RuntimeError: aten::mul_.Scalar"));
}

}  // namespace
}  // namespace sb::test
