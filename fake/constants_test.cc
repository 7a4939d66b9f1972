#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// What a program makes of a literal under the mode.
Tensor lift_fresh(const FakeTensorMode& fake, const Tensor& real) {
  FakeTensorModeGuard active(fake);
  return default_dispatcher().find_op_or_throw("aten::lift_fresh").call({real})[0].to_tensor();
}

Tensor literal(const FakeTensorMode& fake, double value) {
  const Tensor real = full({}, value);
  return lift_fresh(fake, real);
}

TEST_CASE("a literal becomes a fake tensor that keeps its data") {
  FakeTensorMode fake;
  const Tensor c = literal(fake, 3);
  REQUIRE(is_fake(c));
  REQUIRE(constant_of(c).defined());
  CHECK(item(constant_of(c)).to<double>() == 3);
  CHECK_FALSE(constant_of(fake.from_tensor(full({}, 3))).defined());
}

TEST_CASE("a literal of more than one element keeps no data") {
  FakeTensorMode fake;
  const Tensor c = lift_fresh(fake, zeros({2}));
  CHECK(is_fake(c));
  CHECK_FALSE(constant_of(c).defined());
}

TEST_CASE("what is made of constants alone is computed, and item() answers") {
  FakeTensorMode fake;
  const Tensor a = literal(fake, 3), b = literal(fake, 4);
  const Tensor c = mul(a, add(a, b));
  REQUIRE(is_fake(c));
  CHECK(item(constant_of(c)).to<double>() == 21);
  CHECK(item(c).to<double>() == 21);
}

TEST_CASE("one unknown argument makes the result unknown") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(full({}, 1));
  CHECK_FALSE(constant_of(add(literal(fake, 3), x)).defined());
}

TEST_CASE("a result of more than one element is a plain fake tensor") {
  FakeTensorMode fake;
  const Tensor c = expand(literal(fake, 3), {4});
  CHECK(is_fake(c));
  CHECK_FALSE(constant_of(c).defined());
}

TEST_CASE("an in-place operator on constants gives the same tensor and its new data") {
  FakeTensorMode fake;
  const Tensor a = literal(fake, 3), b = literal(fake, 4);
  CHECK(add_(a, b).is_same(a));
  CHECK(item(constant_of(a)).to<double>() == 7);
  CHECK(item(constant_of(b)).to<double>() == 4);
}

TEST_CASE("a program that writes to its literal leaves the real tensor alone") {
  FakeTensorMode fake;
  const Tensor three = full({}, 3.0);
  for (int run = 0; run < 2; ++run) {
    const Tensor a = lift_fresh(fake, three);
    CHECK(item(constant_of(a)).to<double>() == 3);
    add_(a, literal(fake, 1));
    CHECK(item(constant_of(a)).to<double>() == 4);
  }
  CHECK(item(three).to<double>() == 3);
}

TEST_CASE("a write of unknown data makes every alias of a constant unknown") {
  FakeTensorMode fake;
  const Tensor a = literal(fake, 3);
  const Tensor view = sb::view(a, {1});
  REQUIRE(constant_of(view).defined());
  add_(a, fake.from_tensor(full({}, 1)));
  CHECK_FALSE(constant_of(a).defined());
  CHECK_FALSE(constant_of(view).defined());
}

TEST_CASE("a number beside a constant is a constant, too") {
  FakeTensorMode fake;
  const Tensor c = add(literal(fake, 3), wrapped_scalar_tensor(2.0));
  CHECK(item(constant_of(c)).to<double>() == 5);
}

TEST_CASE("a constant goes to a device that is not here without its data") {
  FakeTensorMode fake;
  const Tensor c = to(literal(fake, 3), Device("cuda:0"));
  CHECK(c.device() == Device("cuda:0"));
  CHECK_FALSE(constant_of(c).defined());
}

TEST_CASE("random results of constants are unknown") {
  FakeTensorMode fake;
  Library m(Library::Kind::Def, "constants_test");
  const OperatorHandle op = m.define("roll(Tensor x) -> Tensor", Tag::nondeterministic_seeded);
  static int runs = 0;
  m.impl("roll", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
    ++runs;
    return add(x, x);
  });
  const Tensor c = op.call({literal(fake, 3)})[0].to_tensor();
  CHECK(is_fake(c));
  CHECK(runs == 1);  // the shape rule, and no second time for the data
}

}  // namespace
}  // namespace sb
