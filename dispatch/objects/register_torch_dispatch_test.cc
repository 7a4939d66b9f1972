#include "switchboard/dispatch/objects/register_torch_dispatch.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/mode.h"

namespace sb {
namespace {

struct Counter : DispatchMode {
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    ++ordinary;
    op.call_boxed(stack);
  }
  std::string name() const override { return "Counter"; }
  int ordinary = 0, ruled = 0;
};
struct Derived final : Counter {};

struct TorchDispatchTest {
  Library m{Library::Kind::Def, "rule_test"};
  OperatorHandle f = m.define("f(int n) -> int");
  TorchDispatchTest() {
    m.impl("f", DispatchKey::CompositeExplicitAutograd, [](int64_t n) { return n; });
  }
  int64_t call(DispatchMode& mode) {
    const ModeGuard active(&mode);
    return f.call({1})[0].to_int();
  }
};

void rule(Counter& mode, DispatchKeySet, Stack* stack) {
  CHECK_FALSE(current_mode());  // it is off
  ++mode.ruled;
  stack->back() = IValue(int64_t{9});
}

TEST_CASE_METHOD(TorchDispatchTest,
                 "a rule runs in place of a mode's own, and goes with its handle") {
  Counter mode;
  {
    const RegistrationHandle handle = register_torch_dispatch<Counter>("rule_test::f", rule);
    CHECK(call(mode) == 9);
    CHECK_THROWS_AS(register_torch_dispatch<Counter>("rule_test::f", rule), RuntimeError);
    Derived derived;  // exactly that type
    CHECK(call(derived) == 1);
  }
  CHECK(call(mode) == 1);
  CHECK(mode.ruled == 1);
  CHECK(mode.ordinary == 1);
}

TEST_CASE_METHOD(TorchDispatchTest, "or with a library") {
  Counter mode;
  {
    Library lib(Library::Kind::Impl, "rule_test");
    register_torch_dispatch<Counter>("rule_test::f", rule, lib);
    CHECK(call(mode) == 9);
  }
  CHECK(call(mode) == 1);
  CHECK_THROWS_AS(register_torch_dispatch<Counter>("rule_test::none", rule), RuntimeError);
}

}  // namespace
}  // namespace sb
