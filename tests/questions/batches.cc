// A function of one example, on all of them at once.

#include "switchboard/autograd/function.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/vmap/vmap.h"

namespace sb::questions {
namespace {

SB_QUESTION(
    "Inside of vmap an example is transposed in place. What does the input look like after?",
    .pytorch = "It is transposed, too, where the examples lie in dimension 0.",
    .here = "It is as it was; the example and what it gives are transposed.",
    .better = "A loop over slices changes no slice but its own.") {
  const Tensor x = ones({3, 2, 4});
  const Tensor y = vmap(
      [](const Tensor& m) {
        t_(m);
        return m;
      },
      {x})[0];
  CHECK(y.sizes() == IntArrayRef{3, 4, 2});
  CHECK(x.sizes() == IntArrayRef{3, 2, 4});
}

SB_QUESTION(
    "Inside of vmap a fresh tensor, the same for all examples, takes a copy of one. What "
    "happens?",
    .pytorch = "RuntimeError: in-place arithmetic with another tensor of more elements.",
    .here = "RuntimeError, which names the operator, the argument and the level.",
    .better = "The error says which tensor is not batched.") {
  const auto copies = [](const Tensor& x) { return copy_(empty({2}), x); };
  CHECK_THAT(error_of([&] {
               vmap(copies, {ones({3, 2})});
             }),
             Catch::Contains("aten::copy_: vmap level 1: argument 0 'self', float32[2] on cpu, is "
                             "written to and is the same for all examples"));
}

SB_QUESTION(
    "A cond of a condition that differs from one example to the next has a branch that "
    "writes to its operand. What happens?",
    .pytorch = "An error of the compiler, which traces the branches first.",
    .here = "NotImplementedError, which names the operator that writes.",
    .better =
        "Both branches run for all examples, and one would write to those that go "
        "the other way.") {
  const auto program = [](const Tensor& x) {
    return cond(
        sum(x) > 3, [](const Tensor& t) { return add_Scalar_(t, 1); },
        [](const Tensor& t) { return t * 2; }, {x});
  };
  CHECK_THAT(error_of([&] {
               vmap(program, {ones({3, 2})});
             }),
             Catch::Contains("aten::add_.Scalar: vmap level 1: argument 0 'self', float32[2] on "
                             "cpu, is written to by a function that runs for examples which do"));
}

SB_QUESTION(
    "Inside of vmap softmax goes along the last dimension of an example that has none. What "
    "comes?",
    .both = "Ones: the batch is not that dimension.") {
  const Tensor x = ones({3});
  CHECK(values_of(vmap([](const Tensor& e) { return softmax(e, -1); }, {x})[0]) == Values{1, 1, 1});
}

SB_QUESTION(
    "A tensor of 32-bit floats is multiplied by a 64-bit one without dimensions, inside of "
    "vmap, where both are batched. Which dtype comes?",
    .both = "That of 32 bits: inside it has no dimensions, and does not raise the dtype.") {
  const Tensor y = vmap([](const Tensor& x, const Tensor& s) { return x * s; },
                        {ones({3, 2}), ones({3}, DType::Float64)})[0];
  CHECK(y.dtype() == DType::Float32);
}

}  // namespace
}  // namespace sb::questions
