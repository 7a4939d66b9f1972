// Gradients of fake tensors: shapes without numbers.

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"

namespace sb {
namespace {

Tensor weight() {
  const Tensor w = ones({3, 4});
  set_requires_grad(w);
  return w;
}

TEST_CASE("a fake tensor requires a gradient where the real one does, and is a leaf where it is") {
  FakeTensorMode fake;
  const Tensor w = weight(), computed = sin(w), plain = ones({2});
  CHECK(requires_grad(fake.from_tensor(w)));
  CHECK(is_leaf(fake.from_tensor(w)));
  CHECK(requires_grad(fake.from_tensor(computed)));
  CHECK_FALSE(is_leaf(fake.from_tensor(computed)));
  CHECK_FALSE(requires_grad(fake.from_tensor(plain)));
  CHECK(requires_grad(fake.from_tensor(w, Device("cuda:0"))));
}

TEST_CASE("backward of a fake program gives gradients of the right shape, and no number") {
  FakeTensorMode fake;
  const Device gpu("cuda:0");
  const Tensor real = weight();
  const Tensor w = fake.from_tensor(real, gpu), h = fake.from_tensor(sin(real), gpu);
  backward(sum(mul(mm(fake.from_tensor(ones({2, 3}), gpu), w), sum(h))));
  const Tensor grad = grad_of(w);
  REQUIRE(grad.defined());
  CHECK(is_fake(grad));
  CHECK(grad.device() == gpu);
  CHECK(grad.sizes() == IntArrayRef({3, 4}));
  CHECK_FALSE(grad_of(real).defined());
}

TEST_CASE("the gradient of a tensor with symbolic sizes has them too") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor w = fake.from_tensor(weight()), h = fake.from_tensor(sin(weight()));
  backward(sum(mul(w, h)));
  CHECK(grad_of(w).sym_size(0).to_string() == w.sym_size(0).to_string());
}

}  // namespace
}  // namespace sb
