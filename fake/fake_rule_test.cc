#include "switchboard/fake/fake_rule.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/explain.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

// An operator with a Meta kernel that gives one element.
struct TestOp {
  Library m{Library::Kind::Def, "rule_test"};
  OperatorHandle op = m.define("f(Tensor x) -> Tensor");
  FakeTensorMode fake;
  TestOp() {
    m.impl("f", DispatchKey::Meta, [](const Tensor&) {
      return empty({1}, DType::Float32, std::nullopt, Device(DeviceType::Meta));
    });
  }
  int64_t numel() { return op.call({fake.from_tensor(zeros({2}), kCuda)})[0].to_tensor().numel(); }
};

FakeRule gives(int64_t numel) {
  return [numel](FakeCall& call) {
    call.give({call.empty({numel}, DType::Float32, kCuda)});
    return true;
  };
}

TEST_CASE("a rule runs in the place of the Meta kernel, as long as its handle lives") {
  TestOp test;
  {
    const RegistrationHandle rule = register_fake_rule("rule_test::f", gives(5));
    CHECK(test.numel() == 5);
  }
  CHECK(test.numel() == 1);
}

TEST_CASE("a rule may decline, and the next one is asked") {
  TestOp test;
  int asked = 0;
  const RegistrationHandle first = register_fake_rule("rule_test::f", [&](FakeCall&) {
    ++asked;
    return false;
  });
  CHECK(test.numel() == 1);
  const RegistrationHandle second = register_fake_rule(
      [](const OperatorHandle& op) { return op.name().name == "rule_test::f"; }, gives(7));
  CHECK(test.numel() == 7);
  CHECK(asked == 2);
}

TEST_CASE("the rule of an operator comes before those by predicate, these in their order") {
  TestOp test;
  const auto is_f = [](const OperatorHandle& op) { return op.name().name == "rule_test::f"; };
  const RegistrationHandle a = register_fake_rule(is_f, gives(2));
  const RegistrationHandle b = register_fake_rule(is_f, gives(3));
  CHECK(test.numel() == 2);
  const RegistrationHandle c = register_fake_rule("rule_test::f", gives(4));
  CHECK(test.numel() == 4);
}

TEST_CASE("an explanation names each rule that may take the call, with its line") {
  TestOp test;
  const auto is_f = [](const OperatorHandle& op) { return op.name().name == "rule_test::f"; };
  const RegistrationHandle by_kind = register_fake_rule(is_f, gives(2));
  const RegistrationHandle own = register_fake_rule("rule_test::f", gives(3));
  const auto line = SourceLocation::current().line();
  const std::string text =
      to_string(explain(test.op, Stack{test.fake.from_tensor(zeros({2}), kCuda)}));
  const size_t first = text.find(str_cat("fake rule fake/fake_rule_test.cc:", line - 1, " "));
  const size_t second = text.find(str_cat("fake rule fake/fake_rule_test.cc:", line - 2, " "));
  CAPTURE(text);
  CHECK(first != std::string::npos);
  CHECK(second != std::string::npos);
  CHECK(first < second);
}

TEST_CASE("a second rule for an operator is refused, and names both places") {
  const RegistrationHandle rule = register_fake_rule({"rule_test::g", "rule_test::h"}, gives(1));
  CHECK_THROWS_WITH(register_fake_rule("rule_test::h", gives(1)),
                    Catch::Contains("rule_test::h has a fake rule already") &&
                        Catch::Contains("fake_rule_test.cc"));
  CHECK_THROWS_AS(register_fake_rule({"rule_test::k", "rule_test::k"}, gives(1)), RuntimeError);
}

TEST_CASE("a rule may run the Meta kernel and say where the result is") {
  TestOp test;
  const RegistrationHandle rule = register_fake_rule("rule_test::f", [](FakeCall& call) {
    call.run_meta_kernel(Device(DeviceType::CPU));
    return true;
  });
  const Tensor result = test.op.call({test.fake.from_tensor(zeros({2}), kCuda)})[0].to_tensor();
  CHECK(result.device().is_cpu());
}

TEST_CASE("arguments have the schema's names") {
  TestOp test;
  const RegistrationHandle rule = register_fake_rule("rule_test::f", [](FakeCall& call) {
    CHECK(call.tensor("x").is_same(call.tensor(0)));
    CHECK_THROWS_AS(call.argument("y"), ValueError);
    CHECK_THROWS_AS(call.argument(1), IndexError);
    return false;
  });
  CHECK(test.numel() == 1);
}

TEST_CASE("what a rule calls runs in the mode of its arguments") {
  TestOp test;
  const RegistrationHandle rule = register_fake_rule("rule_test::f", [](FakeCall& call) {
    call.give({add(call.tensor(0), call.tensor(0))});
    return true;
  });
  CHECK(test.numel() == 2);
}

TEST_CASE("an empty rule or predicate is refused") {
  CHECK_THROWS_AS(register_fake_rule("rule_test::f", FakeRule()), ValueError);
  CHECK_THROWS_AS(register_fake_rule(FakeRulePredicate(), gives(1)), ValueError);
}

}  // namespace
}  // namespace sb
