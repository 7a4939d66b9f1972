#include "switchboard/dispatch/objects/operator_base.h"

#include <atomic>
#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;

class PlainMode : public DispatchMode {
 public:
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    op.call_boxed(stack);
  }
  std::string name() const override { return "PlainMode"; }
};

void nothing(DispatchKeySet, Stack*) {}
const OperatorBase::ModeRule no_mode_rule = [](DispatchMode&, DispatchKeySet, Stack*) {};
const OperatorBase::TransformRule no_transform_rule = [](FunctionTransform&, DispatchKeySet,
                                                         Stack*) {};

// The message of what f throws.
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return str_cat(e.kind(), ": ", e.what());
  }
  return "";
}
std::string here(int line) { return str_cat("dispatch/objects/operator_base_test.cc:", line); }

TEST_CASE("rules are kept by key, by type of mode and by type of transform") {
  OperatorBase base("demo::f");
  CHECK(base.name() == "demo::f");
  CHECK(base.describe_rules() == "nothing");
  CHECK_FALSE(base.has_kernel_for_dispatch_key(K::CPU));
  const int line = __LINE__;
  const RegistrationHandle a = base.impl(K::CPU, nothing);
  const RegistrationHandle b = base.impl(K::Autograd, nothing);
  const RegistrationHandle c = base.impl_mode(typeid(PlainMode), no_mode_rule);
  const RegistrationHandle d = base.impl_transform(TransformType::Vmap, no_transform_rule);
  CHECK(base.has_kernel_for_dispatch_key(K::CPU));
  CHECK(base.has_kernel_for_dispatch_key(K::Autograd));
  CHECK_FALSE(base.has_kernel_for_dispatch_key(K::AutogradCPU));
  CHECK(base.has_rule_for_mode(typeid(PlainMode)));
  CHECK_FALSE(base.has_rule_for_mode(typeid(DispatchMode)));
  CHECK(base.has_rule_for_transform(TransformType::Vmap));
  CHECK_FALSE(base.has_rule_for_transform(TransformType::Grad));
  CHECK(base.describe_rules() == str_cat("CPU (", here(line + 1), "), Autograd (", here(line + 2),
                                         "); modes: ", internal::type_name(typeid(PlainMode)), " (",
                                         here(line + 3), "); transforms: Vmap (", here(line + 4),
                                         ")"));
}

TEST_CASE("rules for alias keys never match a set of keys") {
  OperatorBase base("demo::f");
  const RegistrationHandle alias = base.impl(K::CompositeExplicitAutograd, nothing);
  CHECK_FALSE(base.has_kernel_for_any_dispatch_key(DispatchKeySet::full()));
  const RegistrationHandle meta = base.impl(K::Meta, nothing);
  CHECK(base.has_kernel_for_any_dispatch_key({K::CPU, K::Meta}));
  CHECK_FALSE(base.has_kernel_for_any_dispatch_key({K::CPU, K::CUDA}));
}

TEST_CASE("a second rule is refused, and the error names both places") {
  OperatorBase base("demo::f");
  const int line = __LINE__;
  const RegistrationHandle a = base.impl(K::CPU, nothing);
  const RegistrationHandle b = base.impl_mode(typeid(PlainMode), no_mode_rule);
  const RegistrationHandle c = base.impl_transform(TransformType::Grad, no_transform_rule);
  CHECK(message([&] { (void)base.impl(K::CPU, nothing); }) ==
        str_cat("RuntimeError: demo::f: a rule for CPU is already registered; destroy its handle "
                "first\nregistered at: ",
                here(line + 1), "\nand again at: ", here(line + 4)));
  CHECK(message([&] { (void)base.impl_mode(typeid(PlainMode), no_mode_rule); }) ==
        str_cat("RuntimeError: demo::f: a rule for the mode ",
                internal::type_name(typeid(PlainMode)),
                " is already registered; destroy its handle first\nregistered at: ", here(line + 2),
                "\nand again at: ", here(line + 8)));
  CHECK(message([&] { (void)base.impl_transform(TransformType::Grad, no_transform_rule); }) ==
        str_cat("RuntimeError: demo::f: a rule for the transform Grad is already registered; "
                "destroy its handle first\nregistered at: ",
                here(line + 3), "\nand again at: ", here(line + 13)));
}

TEST_CASE("the mode key, bare functionalities and empty functions are refused") {
  OperatorBase base("demo::f");
  CHECK(message([&] { (void)base.impl(K::Python, nothing); }) ==
        "ValueError: demo::f: a rule cannot be at Python, where modes are called; register one for "
        "a type of mode (impl_mode)");
  CHECK(message([&] { (void)base.impl(K::Dense, nothing); }) ==
        "ValueError: demo::f: a rule cannot be at the functionality Dense; name a key of one of "
        "its backends");
  CHECK(message([&] { (void)base.impl(K::CPU, nullptr); }) ==
        "ValueError: demo::f: expected a rule for CPU, got an empty function");
  CHECK(
      message([&] { (void)base.impl_mode(typeid(DispatchMode), nullptr); }) ==
      "ValueError: demo::f: expected a rule for the mode sb::DispatchMode, got an empty function");
  CHECK(message([&] { (void)base.impl_transform(TransformType::Jvp, nullptr); }) ==
        "ValueError: demo::f: expected a rule for the transform Jvp, got an empty function");
  CHECK(base.describe_rules() == "nothing");
}

TEST_CASE("a rule goes with its handle, in any order, and its place is free again") {
  OperatorBase base("demo::f");
  auto state = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = state;
  RegistrationHandle cpu = base.impl(K::CPU, [state](DispatchKeySet, Stack*) {});
  RegistrationHandle meta = base.impl(K::Meta, nothing);
  state.reset();
  CHECK_FALSE(alive.expired());
  cpu.destroy();
  CHECK(alive.expired());
  CHECK_FALSE(base.has_kernel_for_dispatch_key(K::CPU));
  CHECK(base.has_kernel_for_dispatch_key(K::Meta));
  const RegistrationHandle again = base.impl(K::CPU, nothing);
  CHECK(base.has_kernel_for_dispatch_key(K::CPU));
}

TEST_CASE("handles may outlive the operator, and do nothing for rules that were cleared") {
  RegistrationHandle handle;
  {
    OperatorBase base("demo::f");
    RegistrationHandle old = base.impl(K::CPU, nothing);
    base.clear();
    CHECK_FALSE(base.has_kernel_for_dispatch_key(K::CPU));
    handle = base.impl(K::CPU, nothing);
    old.destroy();
    CHECK(base.has_kernel_for_dispatch_key(K::CPU));
  }
  handle.destroy();
}

TEST_CASE("an operator that is removed loses its rules, also if it is defined again") {
  Dispatcher dispatcher;
  RegistrationHandle handle;
  for (int i = 0; i < 2; ++i) {
    Library library(dispatcher, Library::Kind::Def, "demo");
    OperatorBase& base = operator_base(library.define("f(Tensor x) -> Tensor").entry());
    CHECK(base.name() == "demo::f");
    CHECK_FALSE(base.has_kernel_for_dispatch_key(K::CPU));
    handle = base.impl(K::CPU, nothing);
  }
}

// A route that notes what is asked of it.
class NotingApi : public FunctionalizeApi {
 public:
  explicit NotingApi(std::string route, std::vector<std::string>* notes)
      : route_(std::move(route)), notes_(notes) {}
  IValue unwrap(const IValue& value) const override {
    notes_->push_back("unwrap by " + route_);
    return value;
  }
  IValue wrap(const IValue& value) const override {
    notes_->push_back("wrap by " + route_);
    return value;
  }
  void redispatch(const std::function<void()>& call) const override { call(); }
  Callable::Function functionalize(Callable::Function f) const override { return f; }

 private:
  std::string route_;
  std::vector<std::string>* notes_;
};

TEST_CASE("one rule serves every route to functionalisation") {
  OperatorBase base("demo::f");
  std::vector<std::string> notes;
  const auto make = [&](std::string route) { return std::make_unique<NotingApi>(route, &notes); };
  FunctionalizeRoutes routes;
  routes.key = [&] { return make("key"); };
  routes.mode_type = typeid(PlainMode);
  routes.mode = [&](DispatchMode& mode) { return make(mode.name()); };
  routes.transform = [&](FunctionTransform& t) { return make(t.name()); };
  const FunctionalizeApiRule rule = [](const FunctionalizeApi& api, DispatchKeySet, Stack* stack) {
    const Callable::Function f = api.functionalize([](std::vector<IValue> v) { return v; });
    std::vector<IValue> values = {api.unwrap(stack->back())};
    api.redispatch([&] { values = f(values); });
    stack->back() = api.wrap(values[0]);
  };
  RegistrationHandle handle = base.impl_functionalize(rule, routes);

  Stack stack = {IValue(3)};
  internal::CallPin pin;
  (*base.find_kernel(K::Functionalize))({}, &stack);
  PlainMode mode;
  (*base.find_mode_rule(typeid(PlainMode)))(mode, {}, &stack);
  class Functionalize : public FunctionTransform {
    TransformType type() const override { return TransformType::Functionalize; }
    std::string name() const override { return "transform"; }
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
  } transform;
  (*base.find_transform_rule(TransformType::Functionalize))(transform, {}, &stack);
  CHECK(stack[0].to_int() == 3);
  CHECK(notes == std::vector<std::string>{"unwrap by key", "wrap by key", "unwrap by PlainMode",
                                          "wrap by PlainMode", "unwrap by transform",
                                          "wrap by transform"});
  handle.destroy();
  CHECK(base.describe_rules() == "nothing");
}

TEST_CASE("a functionalisation rule is installed on all of its routes or on none") {
  OperatorBase base("demo::f");
  FunctionalizeRoutes routes;
  const FunctionalizeApiRule rule = [](const FunctionalizeApi&, DispatchKeySet, Stack*) {};
  CHECK(message([&] { (void)base.impl_functionalize(rule, routes); }) ==
        "ValueError: demo::f: expected a route of functionalisation, got none");
  routes.key = [] { return std::unique_ptr<FunctionalizeApi>(); };
  CHECK(message([&] { (void)base.impl_functionalize(nullptr, routes); }) ==
        "ValueError: demo::f: expected a rule for functionalisation, got an empty function");
  routes.mode = [](DispatchMode&) { return std::unique_ptr<FunctionalizeApi>(); };
  CHECK(message([&] { (void)base.impl_functionalize(rule, routes); }) ==
        "ValueError: demo::f: a route by a mode needs the mode's type, and the type a route");
  routes.mode_type = typeid(PlainMode);
  const RegistrationHandle there = base.impl_mode(typeid(PlainMode), no_mode_rule);
  CHECK_THROWS_AS(base.impl_functionalize(rule, routes), RuntimeError);
  CHECK_FALSE(base.has_kernel_for_dispatch_key(K::Functionalize));
  routes.mode = nullptr;
  routes.mode_type.reset();
  {
    RegistrationHandle kept = base.impl_functionalize(rule, routes);
    kept.release();
  }
  CHECK(base.has_kernel_for_dispatch_key(K::Functionalize));
}

TEST_CASE("rules come and go while four threads call: each call runs one whole rule") {
  Dispatcher dispatcher;
  Library library(dispatcher, Library::Kind::Def, "demo");
  const OperatorHandle op = library.define("f(Tensor x) -> int");
  library.impl("f", K::CPU, [](const Tensor&) { return int64_t{0}; });
  OperatorBase& base = operator_base(op.entry());
  constexpr int kThreads = 4, kCalls = 20000;
  std::atomic<int> running{kThreads};
  std::atomic<int64_t> wrong{0}, by_rule{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      PlainMode mode;
      ModeGuard guard(&mode);
      const Tensor x = tensor_on(DeviceType::CPU);
      Stack stack;
      for (int i = 0; i < kCalls; ++i) {
        stack.assign(1, IValue(x));
        op.call_boxed(&stack);
        const int64_t got = stack[0].to_int();
        by_rule += got == 7;
        wrong += got != 0 && got != 7;
      }
      --running;
    });
  }
  int64_t rounds = 0;
  for (; running > 0; ++rounds) {
    // A rule that sees whether it is whole.
    auto first = std::make_shared<int64_t>(rounds), second = std::make_shared<int64_t>(rounds);
    const RegistrationHandle rule =
        base.impl_mode<PlainMode>([first, second](PlainMode&, DispatchKeySet, Stack* stack) {
          stack->back() = IValue(*first == *second ? int64_t{7} : int64_t{-1});
        });
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  CAPTURE(rounds);
  CHECK(wrong == 0);
  CHECK(by_rule > 0);
  internal::reclaim();
  CHECK(internal::retired_objects() == 0);
}

}  // namespace
}  // namespace sb
