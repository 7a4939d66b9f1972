// Tensors that are made in inference mode take no part in autograd: nobody counts what is written
// to them, so nothing outside of the mode may write to them or save them.

#include <functional>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using test::values_of;
using Values = std::vector<double>;

bool is_inference(const Tensor& t) { return t.impl()->is_inference(); }
Tensor made_inside(const std::function<Tensor()>& f = [] { return ones({2, 2}); }) {
  const InferenceModeGuard inference;
  return f();
}
Tensor leaf() {
  const Tensor w = ones({2, 2});
  set_requires_grad(w);
  return w;
}

TEST_CASE("what is made in inference mode is an inference tensor, also views of it and results") {
  const Tensor n = ones({2, 2}), w = leaf();
  CHECK(is_inference(made_inside()));
  CHECK(is_inference(made_inside([&] { return n + n; })));
  CHECK(is_inference(made_inside([&] { return clone(n); })));
  const Tensor y = made_inside([&] { return w * 2.0; });
  CHECK(is_inference(y));
  CHECK_FALSE(requires_grad(y));
  CHECK(is_inference(view(made_inside(), {4})));
  CHECK(is_inference(detach(made_inside())));
  CHECK_FALSE(is_inference(clone(made_inside())));
  CHECK_FALSE(is_inference(made_inside() * n));
}

TEST_CASE("views of other tensors that are made in inference mode are no inference tensors") {
  const Tensor n = ones({2, 2});
  const Tensor v = made_inside([&] { return view(n, {4}); });
  CHECK_FALSE(is_inference(v));
  const uint32_t before = n.version();
  {
    const InferenceModeGuard inference;
    n += 1.0;
    v += 1.0;
  }
  CHECK(n.version() == before + 2);
  CHECK(values_of(n) == Values{3, 3, 3, 3});
}

TEST_CASE("outside of inference mode nothing writes to an inference tensor, and inside all may") {
  const Tensor x = made_inside(), n = ones({2, 2});
  const std::string refused =
      "an inference tensor is written to outside of inference mode: float32[2, 2] on cpu; write to "
      "a clone of it";
  CHECK_THROWS_AS(x += 1.0, RuntimeError);
  CHECK_THROWS_WITH(x += 1.0, Contains(": " + refused));
  CHECK_THROWS_WITH(copy_(x, n), "aten::copy_: " + refused);
  CHECK_THROWS_WITH(zero_(x), "aten::zero_: " + refused);
  CHECK_THROWS_WITH(add_out(n, n, 1, x), "aten::add.out: " + refused);
  CHECK_THROWS_WITH(t_(x), "aten::t_: " + refused);
  CHECK_THROWS_WITH(resize_(made_inside(), {3}),
                    Contains("aten::resize_: an inference tensor is written to outside of"));
  CHECK_THROWS_WITH(view(x, {4}) += 1.0, Contains("an inference tensor is written to"));
  CHECK(values_of(x) == Values{1, 1, 1, 1});
  const InferenceModeGuard inference;
  x += 1.0;
  CHECK(values_of(x) == Values{2, 2, 2, 2});
}

TEST_CASE(
    "outside of inference mode an inference tensor can neither require a gradient nor be saved") {
  const Tensor x = made_inside(), w = leaf();
  CHECK_THROWS_WITH(set_requires_grad(x),
                    "set_requires_grad: expected a tensor made outside of inference mode, got "
                    "float32[2, 2] on cpu, made inside; mark a clone of it");
  CHECK(requires_grad(x + w));
  CHECK_THROWS_WITH(backward(sum_all(x * w)), Contains("it saved an inference tensor"));
  backward(sum_all(clone(x) * w));
  CHECK(values_of(grad_of(w)) == Values{1, 1, 1, 1});
}

TEST_CASE("in inference mode a tensor may be marked, and is a leaf outside") {
  const Tensor x = made_inside([] {
    const Tensor t = ones({2, 2});
    set_requires_grad(t);
    return t;
  });
  const Tensor y = x * 2.0;
  CHECK(requires_grad(y));
  backward(sum_all(y));
  CHECK(values_of(grad_of(x)) == Values{2, 2, 2, 2});
}

TEST_CASE("a view of what requires a gradient that was made in inference mode is not written to") {
  const Tensor w = leaf() * 1.0;
  const Tensor v = made_inside([&] { return view(w, {4}); });
  CHECK(requires_grad(v));
  CHECK_THROWS_AS(v += 1.0, RuntimeError);
}

}  // namespace
}  // namespace sb
