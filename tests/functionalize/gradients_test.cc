// Gradients of functionalised programs are those of the programs as written.

#include <functional>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/functionalize/programs.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::test {
namespace {

constexpr Device kCpu(DeviceType::CPU);

// Inputs, gradients and second gradients of a program's first result.
std::string gradients_of(const TensorFunction& f) {
  const Tensor w = _to_copy(counting({2, 3}, kCpu), DType::Float64);
  set_requires_grad(w);
  const Tensor x = w * 1.0;
  Tensors results = f({x});
  const Tensor loss = sum_all(results[0] * results[0]) + sum_all(x * 3.0);
  const Tensor first = grad({loss}, {w}, {}, {.create_graph = true})[0];
  return text_of({results[0], x, first}) + text_of(grad({sum_all(first * first)}, {w}));
}

void check_same_gradients(const TensorFunction& f) {
  const Route route = GENERATE(Route::Key, Route::Mode);
  INFO((route == Route::Key ? "by the key" : "by the mode"));
  CHECK(gradients_of(functionalized(route, f)) == gradients_of(f));
}

TEST_CASE("a gradient passes through a functionalised program") {
  check_same_gradients([](const Tensors& in) { return Tensors{in[0] * in[0] + 1.0}; });
}

TEST_CASE("a gradient passes through writes to views") {
  check_same_gradients([](const Tensors& in) {
    const Tensor y = in[0] * in[0];
    mul_Scalar_(select(y, 0, 1), 3.0);
    mul_(diagonal(slice(y, 1, 1, 3, 1), 0, 0, 1), slice(select(in[0], 0, 0), 0, 0, 2, 1));
    return Tensors{y};
  });
}

TEST_CASE("a gradient passes through writes to an input, and the input has it afterwards") {
  check_same_gradients([](const Tensors& in) {
    mul_Scalar_(select(in[0], 0, 1), 3.0);
    return Tensors{in[0] * 2.0};
  });
}

TEST_CASE("an input that gets another shape in place stays where it was in its memory") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor w = _to_copy(counting({3, 2}, kCpu), DType::Float64);
  set_requires_grad(w);
  for (const auto& in_place : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& x) { return squeeze__dims(x, IntArrayRef()); },
           [](const Tensor& x) { return squeeze_(x); },
           [](const Tensor& x) { return unsqueeze_(x, 0); },
           [](const Tensor& x) { return transpose_(x, 0, 1); }}) {
    const auto after = [&](const TensorFunction& f) {
      const Tensor memory = w * 1.0;
      const Tensor x = slice(memory, 0, 1, 2);
      const Tensors results = f({x});
      return text_of({results[0], x, grad({sum_all(results[0] * results[0])}, {w})[0]}) +
             str_cat(" at ", x.storage_offset());
    };
    const TensorFunction f = [&](const Tensors& in) { return Tensors{in_place(in[0])}; };
    CHECK(after(functionalized(route, f)) == after(f));
  }
}

TEST_CASE("a write through a view of an expanded input comes back to the input") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const auto run = [](const auto& transformed) {
    const Tensor w = counting({4}, kCpu);
    set_requires_grad(w);
    const Tensor x = expand(w * 2.0, {2, 4});
    const Tensors row = transformed([](const Tensors& in) {
      const Tensor view = select(in[0], 0, 1);
      view *= 3.0;
      return Tensors{view};
    })({x});
    backward(sum_all(row[0]));
    return text_of({row[0], x, grad_of(w)});
  };
  CHECK(run([&](const TensorFunction& f) { return functionalized(route, f); }) ==
        run([](const TensorFunction& f) { return f; }));
}

TEST_CASE("a write that is not recorded leaves the gradient as it was") {
  check_same_gradients([](const Tensors& in) {
    const Tensor y = in[0] * 2.0;
    {
      const NoGradGuard no_grad;
      mul_Scalar_(y, 5.0);
      mul_Scalar_(in[0], 3.0);
    }
    return Tensors{y + in[0]};
  });
}

TEST_CASE("a write to a detached tensor leaves the gradient of what it was detached from") {
  check_same_gradients([](const Tensors& in) {
    const Tensor y = in[0] * 2.0;
    const Tensor d = detach(y);
    mul_Scalar_(d, 5.0);
    const Tensor e = detach(in[0] * 1.0);
    mul_(e, in[0]);
    return Tensors{y * 2.0 + e};
  });
}

TEST_CASE("a leaf that requires a gradient cannot be written to by a functionalised program") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor w = counting({2}, kCpu);
  set_requires_grad(w);
  CHECK_THROWS_WITH(functionalized(route,
                                   [](const Tensors& in) {
                                     mul_Scalar_(in[0], 2.0);
                                     return Tensors{};
                                   })({w}),
                    Catch::Matchers::Contains("a leaf that requires a gradient is written to"));
}

Tensors backward_of_squares(const Tensors& in) {
  backward(sum_all(in[0] * in[0]));
  return {};
}

TEST_CASE("backward inside of a functionalised program adds to the gradients of its inputs") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor w = counting({2}, kCpu);
  set_requires_grad(w);
  const TensorFunction step = functionalized(route, backward_of_squares);
  step({w});
  CHECK(text_of({grad_of(w)}) == text_of({_to_copy(counting({2}, kCpu) * 2.0, DType::Float32)}));
  step({w});
  CHECK(text_of({grad_of(w)}) == text_of({_to_copy(counting({2}, kCpu) * 4.0, DType::Float32)}));
}

TEST_CASE("backward inside of a functionalised program does not pass a computed input in silence") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor w = counting({2}, kCpu);
  set_requires_grad(w);
  const TensorFunction step = functionalized(route, backward_of_squares);
  CHECK_THROWS_WITH(step({w * 2.0}), Catch::Matchers::Contains("was computed outside"));
}

TEST_CASE("backward inside of a functionalised program passes cond") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor w = counting({2}, kCpu);
  set_requires_grad(w);
  const TensorFunction step = functionalized(route, [](const Tensors& in) {
    const auto triple = [](const Tensor& x) { return x * 3.0; };
    backward(sum_all(cond(sum_all(in[0]) > 0, triple, triple, {in[0]})[0] * in[0]));
    return Tensors{};
  });
  step({w});
  CHECK(text_of({grad_of(w)}) == text_of({_to_copy(counting({2}, kCpu) * 6.0, DType::Float32)}));
}

TEST_CASE(
    "a result that requires a gradient of what the program marked itself is refused, and "
    "nothing is written") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Tensor x = counting({2}, kCpu);
  CHECK_THROWS_WITH(functionalized(route,
                                   [](const Tensors& in) {
                                     const Tensor y = in[0] * 1.0;
                                     set_requires_grad(y);
                                     mul_Scalar_(in[0], 2.0);
                                     return Tensors{y * 2.0};
                                   })({x}),
                    Catch::Matchers::Contains("by aten::mul.Scalar backward, and the value"));
  CHECK(text_of({x}) == text_of({counting({2}, kCpu)}));
}

}  // namespace
}  // namespace sb::test
