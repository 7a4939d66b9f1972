#include "switchboard/dispatch/objects/fake_object.h"

#include <functional>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/op_overload_packet.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using K = DispatchKey;

constexpr char kClass[] = "__torch__.torch.classes.demo.Counter";

struct Counter : OpaqueObject {
  std::string_view class_name() const override { return kClass; }
};

struct FakeObjectTest {
  FakeObjectTest() {
    m.impl("f", K::CPU, [](const OperatorHandle&, DispatchKeySet, Stack* stack) { *stack = {1}; });
  }
  RegistrationHandle rule(K key, int64_t result) {
    return operator_base(f.handle().entry()).impl(key, [result](DispatchKeySet, Stack* stack) {
      *stack = {result};
    });
  }
  int64_t call(const IValue& object) { return f.call({x, object})[0].to_int(); }

  Dispatcher d;
  Library m{d, LibraryKind::Def, "demo"};
  OpOverload f{m.define(std::string("f(Tensor x, ") + kClass + " counter) -> int")};
  Tensor x = tensor_on(DeviceType::CPU);
  IValue real{IntrusivePtr<OpaqueObject>(make_intrusive<Counter>())};
  IValue fake{IntrusivePtr<OpaqueObject>(make_intrusive<FakeObject>(kClass))};
};

TEST_CASE_METHOD(FakeObjectTest, "a real object goes to kernels, its stand-in only to rules") {
  CHECK(call(real) == 1);
  const RegistrationHandle backend = rule(K::CPU, 2);
  CHECK(call(fake) == 2);
  CHECK(call(real) == 1);
  CHECK(OpOverloadPacket(d, "demo::f").call({x, fake})[0].to_int() == 2);
}

TEST_CASE_METHOD(FakeObjectTest, "a boxed call with a stand-in goes to rules, never to a kernel") {
  Stack stack{x, fake};
  CHECK_THROWS_WITH(f.call_boxed(&stack), Contains("there is no rule for CPU"));
  const RegistrationHandle backend = rule(K::CPU, 2);
  stack = {x, fake};
  f.call_boxed(&stack);
  CHECK(stack[0].to_int() == 2);
  stack = {x, real};
  f.call_boxed(&stack);
  CHECK(stack[0].to_int() == 1);
}

TEST_CASE_METHOD(FakeObjectTest, "whatever way a boxed call comes, a stand-in reaches no kernel") {
  const auto ways = std::vector<std::function<void(Stack*)>>{
      [&](Stack* stack) { f.handle().call_boxed(stack); },
      [&](Stack* stack) { *stack = f.handle().call(*stack); },
      [&](Stack* stack) { f.handle().redispatch_boxed(DispatchKeySet(K::CPU), stack); },
      [&](Stack* stack) { *stack = f.redispatch(DispatchKeySet(K::CPU), *stack); },
      [&](Stack* stack) { f.at(K::CPU).call_boxed(stack); },
  };
  for (const auto& way : ways) {
    Stack stack{x, fake};
    CHECK_THROWS_WITH(way(&stack), Contains("demo::f: argument 1 'counter' is the fake stand-in"));
    stack = {x, real};
    way(&stack);
    CHECK(stack[0].to_int() == 1);
    const RegistrationHandle backend = rule(K::CPU, 2);
    stack = {x, fake};
    way(&stack);
    CHECK(stack[0].to_int() == 2);
  }
  Stack stack{fake};
  CHECK_THROWS_WITH(f.handle().call_boxed(&stack), Contains("demo::f"));
}

TEST_CASE_METHOD(FakeObjectTest,
                 "a kernel at Meta takes stand-ins that have a state of their own") {
  struct FakeCounter final : FakeObject {
    FakeCounter() : FakeObject(kClass) {}
    int64_t value = 5;
  };
  m.impl("f", K::Meta, [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
    *stack = {dynamic_cast<FakeCounter&>(*(*stack)[1].to_object()).value};
  });
  const IValue with_state{IntrusivePtr<OpaqueObject>(make_intrusive<FakeCounter>())};
  const Tensor meta = tensor_on(DeviceType::Meta);
  Stack stack{meta, with_state};
  f.handle().call_boxed(&stack);
  CHECK(stack[0].to_int() == 5);
  stack = {meta, with_state};
  f.at(K::Meta).call_boxed(&stack);
  CHECK(stack[0].to_int() == 5);
  stack = {x, with_state};
  CHECK_THROWS_WITH(f.handle().call_boxed(&stack), Contains("there is no rule for CPU"));
  stack = {meta, fake};
  CHECK_THROWS_WITH(f.handle().call_boxed(&stack), Contains("there is no rule for Meta"));
}

TEST_CASE_METHOD(FakeObjectTest, "a mode that passes a call on passes it to rules") {
  struct Mode : DispatchMode {
    void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override {
      if (redispatches)
        op.redispatch_boxed(keys - K::Python, stack);
      else
        op.call_boxed(stack);
    }
    std::string name() const override { return "Mode"; }
    bool redispatches = false;
  } mode;
  for (const bool redispatches : {false, true}) {
    mode.redispatches = redispatches;
    const ModeGuard guard(&mode);
    CHECK_THROWS_WITH(call(fake), Contains("there is no rule for CPU"));
    const RegistrationHandle backend = rule(K::CPU, 2);
    CHECK(call(fake) == 2);
    CHECK(call(real) == 1);
  }
}

TEST_CASE_METHOD(FakeObjectTest, "without a rule the error explains what is missing") {
  CHECK_THROWS_AS(call(fake), RuntimeError);
  CHECK_THROWS_WITH(
      call(fake),
      Contains("demo::f: argument 1 'counter' is the fake stand-in of a __torch__.torch.classes."
               "demo.Counter, and there is no rule for CPU") &&
          Contains("registered kernels: CPU (dispatch/objects/fake_object_test.cc") &&
          Contains("rules: none"));
}

TEST_CASE_METHOD(FakeObjectTest, "a rule at an alias key serves what the alias covers") {
  const RegistrationHandle any = rule(K::CompositeExplicitAutograd, 3);
  CHECK(f.call({IValue(tensor_on(DeviceType::Meta)), fake})[0].to_int() == 3);
  CHECK_THROWS_WITH(call(fake), Contains("no rule for CPU"));  // the kernel there is nearer
  // Passed over, the call ends at Undefined, which the alias covers too.
  m.impl("f", K::CPU, fallthrough);
  CHECK(call(fake) == 3);
}

TEST_CASE_METHOD(FakeObjectTest,
                 "keys above the backends are passed over unless they have a rule") {
  const RegistrationHandle backend = rule(K::CPU, 2);
  CHECK(call(fake) == 2);
  {
    const RegistrationHandle autograd = rule(K::AutogradCPU, 4);
    CHECK(call(fake) == 4);
  }
  CHECK(call(fake) == 2);
  {
    const RegistrationHandle autograd = rule(K::Autograd, 5);
    CHECK(call(fake) == 5);
  }
  SECTION("a kernel there stops the call, and a fallthrough that is registered later does not") {
    {
      Library kernel(d, LibraryKind::Impl, "demo");
      kernel.impl("f", K::AutogradCPU,
                  [](const OperatorHandle&, DispatchKeySet, Stack* stack) { *stack = {6}; });
      CHECK_THROWS_WITH(call(fake), Contains("no rule for AutogradCPU"));
    }
    Library kernel(d, LibraryKind::Impl, "demo");
    kernel.impl("f", K::AutogradCPU, fallthrough);
    CHECK(call(fake) == 2);
  }
}

TEST_CASE_METHOD(FakeObjectTest, "a mode that is active handles the call") {
  struct Mode : DispatchMode {
    void call(const OperatorHandle&, DispatchKeySet, Stack* stack) override { *stack = {7}; }
    std::string name() const override { return "Mode"; }
  } mode;
  ModeGuard guard(&mode);
  CHECK(call(fake) == 7);
}

TEST_CASE("stand-ins are found in lists too") {
  Dispatcher d;
  Library m(d, LibraryKind::Def, "demo");
  const OpOverload g(m.define(std::string("g(") + kClass + "[] all) -> int"));
  const IValue real{IntrusivePtr<OpaqueObject>(make_intrusive<Counter>())};
  const IValue fake{IntrusivePtr<OpaqueObject>(make_intrusive<FakeObject>(kClass))};
  CHECK_FALSE(has_fake_object(g.handle(), {std::vector<IValue>{real, real}}));
  CHECK(has_fake_object(g.handle(), {std::vector<IValue>{real, fake}}));
}

}  // namespace
}  // namespace sb
