// A checkpoint saves what its function is given, and backward calls the function again.

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/ops/random/bernoulli.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/tests/higher_order/regions.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("the function runs once forward and once for each backward") {
  int calls = 0;
  const Tensors in = as_leaves(different_inputs()[0]);
  const Tensor y = wrap_activation_checkpoint(
      [&](const Tensor& x) {
        ++calls;
        return exp(x * in[1]);
      },
      {in[0]})[0];
  CHECK(calls == 1);
  CHECK(requires_grad(y));
  const Tensors grads = grad({sum(y)}, in);
  CHECK(calls == 2);
  check_close(grads, grad({sum(exp(in[0] * in[1]))}, in));
}

TEST_CASE("nothing that the function makes lives on") {
  const Tensors in = as_leaves(different_inputs()[0]);
  WeakIntrusivePtr<TensorImpl> made;
  const Tensor y = wrap_activation_checkpoint(
      [&](const Tensor& x) {
        const Tensor inner = exp(x);
        made = WeakIntrusivePtr<TensorImpl>(IntrusivePtr<TensorImpl>::share(inner.impl()));
        return inner * inner;
      },
      {in[0]})[0];
  CHECK_FALSE(made.lock());
}

TEST_CASE("backward draws the random numbers of the first time, and leaves the generator alone") {
  const Tensors in = as_leaves(different_inputs()[0]);
  const Tensor y = wrap_activation_checkpoint(
      [](const Tensor& x) { return x * bernoulli(x * 0 + 0.5); }, {in[0]})[0];
  const std::vector<uint8_t> state = default_cpu_generator()->state();
  const Tensor of_x = grad({sum(y)}, {in[0]})[0];
  CHECK(default_cpu_generator()->state() == state);
  check_close({of_x * in[0]}, {y});
}

TEST_CASE("first and second derivatives are those of finite differences") {
  const Program program = [](const Tensors& in) {
    return wrap_activation_checkpoint([w = in[1]](const Tensor& x) { return exp(x * w) * x; },
                                      {in[0]});
  };
  CHECK(gradcheck_report(program, as_leaves(different_inputs()[0])).to_string() == "");
  CHECK(gradgradcheck_report(program, as_leaves(different_inputs()[0])).to_string() == "");
}

TEST_CASE("what an input was computed from another is counted once") {
  const Program of = [](const Tensors& in) {
    const Tensor y = in[0] * in[0];
    return wrap_activation_checkpoint([y](const Tensor& a, const Tensor& b) { return a * b * y; },
                                      {in[0], y});
  };
  const Program plain = [](const Tensors& in) {
    const Tensor y = in[0] * in[0];
    return Tensors{in[0] * y * y};
  };
  const Tensors in = as_leaves(different_inputs()[0]);
  check_close(gradients_of(of)(in), gradients_of(plain)(in));
}

TEST_CASE("what could not be had again is refused by name") {
  const Tensors in = as_leaves(different_inputs()[0]);
  const Tensor outside = different_inputs()[0][0];
  CHECK_THAT(message([&] {
               wrap_activation_checkpoint(
                   [&](const Tensor& x) {
                     outside += 1;
                     return x * outside;
                   },
                   {in[0]});
             }),
             Contains("wrap_activation_checkpoint: function: aten::add_.") &&
                 Contains("which the function has not made"));
  CHECK_THAT(
      message([&] {
        wrap_activation_checkpoint(
            [&](const Tensor& x) { return x * bernoulli(x * 0 + 0.5, make_cpu_generator(1)); },
            {in[0]});
      }),
      Contains("draws from a generator that it is given"));
  // What it uses may not be written to before backward.
  const Tensor y =
      wrap_activation_checkpoint([&](const Tensor& x) { return x * outside; }, {in[0]})[0];
  outside += 1;
  CHECK_THAT(message([&] { grad({sum(y)}, {in[0]}); }), Contains("RuntimeError"));
}

}  // namespace
}  // namespace sb::test
