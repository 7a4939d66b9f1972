#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/effects/operators.h"

namespace sb::effects {
namespace {

using Catch::Contains;

TEST_CASE("calls that return nothing are passed over, and traces have them") {
  const Program f = [](const Tensors& in) {
    note("a");
    note_value("x", in[0]);
    return Tensors{in[0] + 1};
  };
  FakeTensorMode mode;
  Graph graph;
  CHECK(log_of([&] {
          const FakeTensorModeGuard guard(mode);
          graph = trace(f, mode.from_tensors(Tensors{numbers({1})}));
        }) == "");
  CHECK(log_of([&] { graph.run({numbers({2})}); }) == "a, x=2");
}

TEST_CASE("those with results need a fake rule") {
  FakeTensorMode mode;
  const FakeTensorModeGuard guard(mode);
  const Tensor x = mode.from_tensor(numbers({1}));
  CHECK(log_of([&] { copied(x); }) ==
        "; NotImplementedError: effects::copied: the operator has an effect, which must not "
        "come about for fake tensors, and no fake rule that gives its results without it; "
        "register_fake() one: effects::copied(Tensor x) -> Tensor");
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  CHECK_THAT(log_of([&] { pop(queue); }), Catch::StartsWith("; NotImplementedError"));
  const auto rule = register_fake("effects::copied", [](const Tensor& t) { return empty_like(t); });
  CHECK(log_of([&] { CHECK(is_fake(copied(x))); }) == "");
}

TEST_CASE("constants that a fake mode knows are no reason to run one") {
  FakeTensorMode mode;
  const FakeTensorModeGuard guard(mode);
  const Tensor constant =
      default_dispatcher().find_op_or_throw("aten::lift_fresh").call({numbers({1})})[0].to_tensor();
  REQUIRE(constant_of(constant).defined());
  CHECK(log_of([&] { note_value("x", constant); }) == "");
}

}  // namespace
}  // namespace sb::effects
