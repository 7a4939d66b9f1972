#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/tests/effects/operators.h"

namespace sb::effects {
namespace {

using Catch::Contains;

struct Schemas {
  bool has_effect(const std::string& signature) {
    return has_ordered_effect(m.define("f" + std::to_string(++count) + signature));
  }
  Dispatcher d;
  Library m{d, Library::Kind::Def, "demo"};
  int count = 0;
};

TEST_CASE_METHOD(Schemas, "an operator that neither returns nor writes to anything has an effect") {
  CHECK(has_effect("(Tensor x) -> ()"));
  CHECK(has_effect("(str what) -> ()"));
  CHECK_FALSE(has_effect("(Tensor x) -> Tensor"));
  CHECK_FALSE(has_effect("(Tensor(a!) x) -> ()"));
  CHECK_FALSE(has_effect("(Tensor(a!) x) -> Tensor(a!)"));
}

TEST_CASE_METHOD(Schemas,
                 "an operator that takes an object has an effect, one that makes it none") {
  const std::string c = kQueueClass;
  CHECK(has_effect("(" + c + " queue) -> Tensor"));
  CHECK(has_effect("(Tensor(a!) x, " + c + "? queue) -> ()"));
  CHECK(has_effect("(" + c + "[] queues) -> int"));
  CHECK_FALSE(has_effect("(int capacity) -> " + c));
}

TEST_CASE_METHOD(Schemas,
                 "what is registered counts before the schema, as long as its handle lives") {
  const OperatorHandle twice = m.define("twice(Tensor x) -> Tensor");
  const OperatorHandle print = m.define("print(Tensor x) -> ()");
  {
    const RegistrationHandle one = register_effect(twice, Effect::Ordered);
    const RegistrationHandle none = register_effect(print, Effect::None);
    CHECK(has_ordered_effect(twice));
    CHECK_FALSE(has_ordered_effect(print));
    CHECK_THROWS_WITH(register_effect(twice, Effect::None),
                      Contains("register_effect: demo::twice has its effect registered already, at "
                               "tests/effects/an_effect_is_told") &&
                          Contains("; got another at "));
  }
  CHECK_FALSE(has_ordered_effect(twice));
  CHECK(has_ordered_effect(print));
}

TEST_CASE("a custom operator takes its effect with it") {
  const auto make = [] {
    return custom_op("effects_custom::twice", "(Tensor x) -> Tensor",
                     [](const Tensor& x) { return x + x; })
        .register_effect(Effect::Ordered);
  };
  {
    const CustomOp op = make();
    CHECK(has_ordered_effect(op.op().handle()));
  }
  CHECK(has_ordered_effect(make().op().handle()));
}

TEST_CASE_METHOD(Schemas, "an ordered effect is marked on one thread and for a scope") {
  const OperatorHandle f = m.define("f(Tensor x) -> Tensor"), g = m.define("g(Tensor x) -> Tensor");
  CHECK_FALSE(has_ordered_effect(f));
  {
    OrderedEffectGuard outer(f);
    {
      OrderedEffectGuard inner(f), also(g);
      CHECK(has_ordered_effect(g));
    }
    CHECK(has_ordered_effect(f));
    CHECK_FALSE(has_ordered_effect(g));
    std::thread([&] { CHECK_FALSE(has_ordered_effect(f)); }).join();
  }
  CHECK_FALSE(has_ordered_effect(f));
}

}  // namespace
}  // namespace sb::effects
