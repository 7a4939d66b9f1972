// Rules of operators for keys, modes and transforms; higher-order operators without the rule that a
// call needs.

#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/errors/message.h"

namespace sb {
namespace {

using K = DispatchKey;

class TestMode : public DispatchMode {
 public:
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
  std::string name() const override { return "TestMode"; }
};

class TestTransform : public FunctionTransform {
 public:
  TransformType type() const override { return TransformType::Vmap; }
  std::string name() const override { return "TestTransform"; }
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
};

const OperatorBase::Rule rule = [](DispatchKeySet, Stack*) {};
const OperatorBase::ModeRule mode_rule = [](DispatchMode&, DispatchKeySet, Stack*) {};
const OperatorBase::TransformRule transform_rule = [](FunctionTransform&, DispatchKeySet, Stack*) {
};

TEST_CASE("a second rule for a key, a type of mode or a type of transform") {
  OperatorBase f("demo::f");
  const std::string key_at = here();
  const RegistrationHandle key = f.impl(K::CPU, rule);
  const std::string mode_at = here();
  const RegistrationHandle mode = f.impl_mode(typeid(TestMode), mode_rule);
  const std::string transform_at = here();
  const RegistrationHandle transform = f.impl_transform(TransformType::Vmap, transform_rule);
  const std::string before = f.describe_rules();
  std::string again;
  auto text = [&](std::string_view what, const std::string& first) {
    return str_cat("RuntimeError: demo::f: a rule for ", what,
                   " is already registered; destroy its handle first\nregistered at: ", first,
                   "\nand again at: ", again);
  };
  const std::string of_key = message([&] {
    again = here();
    const RegistrationHandle handle = f.impl(K::CPU, rule);
  });
  CHECK(of_key == text("CPU", key_at));
  const std::string of_mode = message([&] {
    again = here();
    const RegistrationHandle handle = f.impl_mode(typeid(TestMode), mode_rule);
  });
  CHECK(of_mode == text("the mode " + internal::type_name(typeid(TestMode)), mode_at));
  const std::string of_transform = message([&] {
    again = here();
    const RegistrationHandle handle = f.impl_transform(TransformType::Vmap, transform_rule);
  });
  CHECK(of_transform == text("the transform Vmap", transform_at));
  CHECK(f.describe_rules() == before);
}

TEST_CASE("a rule that is an empty function") {
  OperatorBase f("demo::f");
  CHECK(message([&] { const auto handle = f.impl(K::CPU, nullptr); }) ==
        "ValueError: demo::f: expected a rule for CPU, got an empty function");
  CHECK(message([&] { const auto handle = f.impl_transform(TransformType::Vmap, nullptr); }) ==
        "ValueError: demo::f: expected a rule for the transform Vmap, got an empty function");
  CHECK(f.describe_rules() == "nothing");
}

TEST_CASE("a rule at Python") {
  OperatorBase f("demo::f");
  CHECK(message([&] { const auto handle = f.impl(K::Python, rule); }) ==
        "ValueError: demo::f: a rule cannot be at Python, where modes are called; register one for "
        "a type of mode (impl_mode)");
}

TEST_CASE("a rule at a functionality") {
  OperatorBase f("demo::f");
  CHECK(message([&] { const auto handle = f.impl(K::Dense, rule); }) ==
        "ValueError: demo::f: a rule cannot be at the functionality Dense; name a key of one of "
        "its backends");
}

TEST_CASE("a rule of functionalisation without a route") {
  OperatorBase f("demo::f");
  const FunctionalizeApiRule functionalize = [](const FunctionalizeApi&, DispatchKeySet, Stack*) {};
  CHECK(message([&] { const auto handle = f.impl_functionalize(functionalize, {}); }) ==
        "ValueError: demo::f: expected a route of functionalisation, got none");
  CHECK(message([&] { const auto handle = f.impl_functionalize(nullptr, {}); }) ==
        "ValueError: demo::f: expected a rule for functionalisation, got an empty function");
}

TEST_CASE("a higher-order operator whose name is no identifier, or taken") {
  CHECK(message([] { HigherOrderOperator("a b"); }) ==
        "ValueError: HigherOrderOperator: expected an identifier, got 'a b'");
  const HigherOrderOperator apply("errors_apply");
  CHECK(message([] { HigherOrderOperator("errors_apply"); }) ==
        "RuntimeError: higher_order::errors_apply: a higher-order operator of that name is there "
        "already");
  CHECK(find_higher_order_op("errors_apply") == &apply);
}

TEST_CASE("a higher-order operator without a rule for the key") {
  HigherOrderOperator apply("errors_apply");
  const std::string at = here();
  const RegistrationHandle meta = apply.impl(K::Meta, rule);
  CHECK(message([&] { apply({tensor_with(K::CPU)}); }) ==
        "NotImplementedError: higher_order::errors_apply: no rule for CPU (the arguments have "
        "{CPU}); register one with impl(), as backend fallbacks do not apply\n"
        "registered: Meta (" +
            at + ")");
}

TEST_CASE("a higher-order operator without a rule for the mode") {
  HigherOrderOperator apply("errors_apply");
  TestMode mode;
  ModeGuard guard(&mode);
  CHECK(message([&] { apply({tensor_with(K::CPU)}); }) ==
        "NotImplementedError: higher_order::errors_apply: no rule for the mode TestMode (" +
            internal::type_name(typeid(TestMode)) +
            "); register one with impl_mode(), or let the mode say "
            "supports_higher_order_operators()\nregistered: nothing");
  CHECK(current_mode() == &mode);
}

TEST_CASE("a higher-order operator without a rule for the transform") {
  HigherOrderOperator apply("errors_apply");
  TestTransform transform;
  FunctionTransformGuard guard(&transform);
  CHECK(message([&] { apply({tensor_with(K::CPU)}); }) ==
        "NotImplementedError: higher_order::errors_apply: no rule for the transform TestTransform "
        "(Vmap); register one with impl_transform()\nregistered: nothing");
  CHECK(current_transform() == &transform);
}

TEST_CASE("a higher-order operator at Python without a mode") {
  const HigherOrderOperator apply("errors_apply");
  CHECK(message([&] { apply.redispatch(K::Python, {tensor_with(K::CPU)}); }) ==
        "RuntimeError: higher_order::errors_apply: entered at Python, but no mode is active and no "
        "argument belongs to one");
}

TEST_CASE("a higher-order operator that is to pass over what is no key of a call") {
  HigherOrderOperator apply("errors_apply");
  CHECK(message([&] { apply.fallthrough(K::Autograd); }) ==
        "ValueError: higher_order::errors_apply: calls cannot pass over Autograd, which is in no "
        "key set");
}

TEST_CASE("a callable that is empty, or something else") {
  CHECK(message([] { Callable::make(nullptr); }) ==
        "ValueError: Callable: expected a function, got an empty one");
  CHECK(message([] { Callable::from(3); }) == "TypeError: expected a Callable, got 3");
}

}  // namespace
}  // namespace sb
