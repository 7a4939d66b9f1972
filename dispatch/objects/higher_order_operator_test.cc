#include "switchboard/dispatch/objects/higher_order_operator.h"

#include <atomic>
#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;
using Notes = std::vector<std::string>;

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return str_cat(e.kind(), ": ", e.what());
  }
  return "";
}
std::string here(int line) {
  return str_cat("dispatch/objects/higher_order_operator_test.cc:", line);
}

class SlotMode : public DispatchMode {
 public:
  explicit SlotMode(std::optional<ModeKey> key = std::nullopt) : key_(key) {}
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override {
    throw RuntimeError("a higher-order operator has no default route");
  }
  std::string name() const override { return "SlotMode"; }
  std::optional<ModeKey> mode_key() const override { return key_; }

 private:
  std::optional<ModeKey> key_;
};

// apply(f, x): f of x.
struct Fixture {
  Fixture() : apply("apply") {}

  // A rule that notes where it ran, and calls the function.
  OperatorBase::Rule noting(std::string note) {
    return [this, note](DispatchKeySet, Stack* stack) {
      notes.push_back(note);
      const auto f = Callable::from((*stack)[0]);
      *stack = (*f)({stack->begin() + 1, stack->end()});
    };
  }
  std::vector<IValue> call(const Tensor& x) {
    return apply({Callable::make([](std::vector<IValue> v) { return v; }), IValue(x)});
  }
  std::vector<IValue> call() { return call(tensor_on(DeviceType::CPU)); }

  HigherOrderOperator apply;
  Notes notes;
};

TEST_CASE("a higher-order operator has a name in its namespace and is found by it") {
  CHECK(find_higher_order_op("apply") == nullptr);
  {
    Fixture f;
    CHECK(f.apply.name() == "higher_order::apply");
    CHECK(f.apply.ns() == "higher_order");
    CHECK(f.apply.opname() == "apply");
    CHECK(find_higher_order_op("apply") == &f.apply);
    HigherOrderOperator also("also");
    CHECK(all_higher_order_ops() == std::vector<HigherOrderOperator*>{&also, &f.apply});
    CHECK(message([] { HigherOrderOperator again("apply"); }) ==
          "RuntimeError: higher_order::apply: a higher-order operator of that name is there "
          "already");
    CHECK(find_higher_order_op("apply") == &f.apply);
  }
  CHECK(all_higher_order_ops().empty());
  CHECK(message([] { HigherOrderOperator bad("a b"); }) ==
        "ValueError: HigherOrderOperator: expected an identifier, got 'a b'");
  CHECK_THROWS_AS(HigherOrderOperator(""), ValueError);
  CHECK_THROWS_AS(HigherOrderOperator("2x"), ValueError);
}

TEST_CASE("a call takes functions and gives values") {
  Fixture f;
  const RegistrationHandle rule = f.apply.impl(K::CompositeExplicitAutograd, f.noting("dense"));
  const RegistrationHandle autograd =
      f.apply.impl(K::Autograd, [&](DispatchKeySet keys, Stack* stack) {
        f.notes.push_back("autograd");
        f.apply.redispatch_boxed(keys & DispatchKeySet::below(K::ADInplaceOrView), stack);
      });
  const Tensor x = tensor_on(DeviceType::CPU);
  const std::vector<IValue> results = f.call(x);
  CHECK(results.size() == 1);
  CHECK(results[0].to_tensor().is_same(x));
  CHECK(f.notes == Notes{"autograd", "dense"});
  f.notes.clear();
  CHECK(f.apply({Callable::make([](std::vector<IValue>) {
           return std::vector<IValue>{IValue(1), IValue(2)};
         })})
            .size() == 2);
  CHECK(f.notes == Notes{"dense"});  // no tensor: the Undefined key
  CHECK(f.apply.redispatch(K::CPU, {Callable::make([](std::vector<IValue> v) { return v; })})
            .empty());
}

TEST_CASE("the keys of a call are those of the tensors in all arguments, lists included") {
  Fixture f;
  const Tensor cpu = tensor_with(K::CPU), meta = tensor_with(K::Meta),
               sparse = tensor_with(K::SparseCUDA);
  const std::vector<IValue> arguments = {
      IValue(1), IValue(std::vector<Tensor>{cpu}),
      IValue(std::vector<IValue>{IValue("x"), IValue(std::vector<IValue>{IValue(meta)})}),
      IValue(std::vector<std::optional<Tensor>>{std::nullopt, sparse})};
  const DispatchKeySet tensors = cpu.key_set() | meta.key_set() | sparse.key_set();
  CHECK(f.apply.call_keys(arguments) == tensors);
  {
    IncludeKeysGuard include({K::Tracer, K::Conjugate});
    ExcludeKeysGuard exclude({K::Conjugate, K::SparseCUDA});
    CHECK(f.apply.call_keys(arguments) == ((tensors | K::Tracer) - K::SparseCUDA));
    f.apply.fallthrough(K::Tracer);
    CHECK(f.apply.call_keys(arguments) == (tensors - K::SparseCUDA));
  }
}

TEST_CASE("calls pass over these keys by default") {
  Fixture f;
  CHECK(kHigherOrderFallthroughKeys ==
        DispatchKeySet{K::PythonDispatcher, K::PythonTLSSnapshot, K::ADInplaceOrView,
                       K::BackendSelect, K::AutocastCPU, K::AutocastCUDA, K::AutocastXPU});
  const RegistrationHandle rule = f.apply.impl(K::CPU, f.noting("cpu"));
  const RegistrationHandle autograd = f.apply.impl(K::AutogradCPU, f.noting("autograd"));
  IncludeKeysGuard include(kHigherOrderFallthroughKeys);
  UnexcludeKeysGuard autocast({K::AutocastCPU, K::AutocastCUDA, K::AutocastXPU});
  CHECK((f.apply.call_keys({}) & kHigherOrderFallthroughKeys).empty());
  f.call(tensor_with(K::CPU));
  CHECK(f.notes == Notes{"cpu"});
}

TEST_CASE("a rule for a key that calls pass over brings it back, as long as it lasts") {
  Fixture f;
  const RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  IncludeKeysGuard include(K::PythonTLSSnapshot);
  const Tensor x = tensor_with(K::CPU);
  f.call(x);
  RegistrationHandle rule = f.apply.impl(K::PythonTLSSnapshot, f.noting("snapshot"));
  f.call(x);
  f.apply.fallthrough(K::PythonTLSSnapshot);
  f.call(x);
  rule.destroy();
  rule = f.apply.impl(K::PythonTLSSnapshot, f.noting("snapshot again"));
  f.call(x);
  rule.destroy();
  f.call(x);
  CHECK(f.notes == Notes{"cpu", "snapshot", "cpu", "snapshot again", "cpu"});
  CHECK_FALSE(f.apply.non_fallthrough_keys().has(K::PythonTLSSnapshot));
}

TEST_CASE("a functionality is passed over on every backend until a rule on one brings it back") {
  Fixture f;
  f.apply.fallthrough(K::AutogradCPU);
  CHECK_FALSE(f.apply.non_fallthrough_keys().has(K::AutogradCUDA));
  RegistrationHandle cpu = f.apply.impl(K::AutogradCPU, f.noting("cpu"));
  RegistrationHandle cuda = f.apply.impl(K::AutogradCUDA, f.noting("cuda"));
  cpu.destroy();
  CHECK(f.apply.non_fallthrough_keys().has(K::AutogradCUDA));
  cuda.destroy();
  CHECK_FALSE(f.apply.non_fallthrough_keys().has(K::AutogradCUDA));
  CHECK(message([&] { f.apply.fallthrough(K::Autograd); }) ==
        "ValueError: higher_order::apply: calls cannot pass over Autograd, which is in no key set");
}

TEST_CASE("a key without a rule is an error: backend fallbacks do not apply") {
  Fixture f;
  const Tensor x = tensor_with({K::BackendSelect, K::CPU});
  CHECK(message([&] { f.call(x); }) ==
        "NotImplementedError: higher_order::apply: no rule for CPU (the arguments have "
        "{BackendSelect, CPU}); register one with impl(), as backend fallbacks do not apply\n"
        "registered: nothing");
  const int line = __LINE__;
  const RegistrationHandle rule = f.apply.impl(K::Meta, f.noting("meta"));
  CHECK(
      message([&] { f.call(tensor_on(DeviceType::CPU)); }) ==
      str_cat(
          "NotImplementedError: higher_order::apply: no rule for AutogradCPU (the arguments have "
          "{AutocastCPU, AutogradCPU, ADInplaceOrView, CPU}); register one with impl(), as backend "
          "fallbacks do not apply\nregistered: Meta (",
          here(line + 1), ")"));
}

TEST_CASE("rules are resolved in the order of kernels") {
  Fixture f;
  const Tensor x = tensor_with(K::CPU);
  std::vector<RegistrationHandle> rules;
  const auto add = [&](K key) {
    rules.push_back(f.apply.impl(key, f.noting(std::string(to_string(key)))));
    f.notes.clear();
    f.call(x);
    return f.notes.back();
  };
  CHECK(add(K::CompositeImplicitAutograd) == "CompositeImplicitAutograd");
  CHECK(add(K::CompositeExplicitAutograd) == "CompositeExplicitAutograd");
  CHECK(add(K::CompositeExplicitAutogradNonFunctional) == "CompositeExplicitAutogradNonFunctional");
  CHECK(add(K::CPU) == "CPU");
  // An explicit composite hides the implicit one at the autograd keys.
  CHECK_THROWS_AS(f.call(tensor_on(DeviceType::CPU)), NotImplementedError);
  rules.push_back(f.apply.impl(K::Autograd, f.noting("Autograd")));
  f.call(tensor_on(DeviceType::CPU));
  CHECK(f.notes.back() == "Autograd");
}

TEST_CASE(
    "an implicit composite is ambiguous at AutogradOther beside a kernel of another backend") {
  Fixture f;
  const RegistrationHandle composite = f.apply.impl(K::CompositeImplicitAutograd, f.noting("i"));
  const RegistrationHandle fpga = f.apply.impl(K::FPGA, f.noting("fpga"));
  CHECK(message([&] { f.call(tensor_with(K::AutogradOther)); }) ==
        "RuntimeError: higher_order::apply: ambiguous at AutogradOther: it has a "
        "CompositeImplicitAutograd kernel and a kernel of a backend without an autograd key of its "
        "own");
}

TEST_CASE("a rule is cached at its key until a registration changes what it may be") {
  Fixture f;
  RegistrationHandle composite = f.apply.impl(K::CompositeImplicitAutograd, f.noting("composite"));
  const Tensor x = tensor_with(K::CPU);
  CHECK(cached_ops().empty());
  f.call(x);
  CHECK(cached_ops() == Notes{"higher_order::apply"});
  RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  CHECK(cached_ops().empty());
  f.call(x);
  cpu.destroy();
  f.call(x);
  f.apply.uncache_dispatch(K::Meta);
  CHECK(cached_ops() == Notes{"higher_order::apply"});
  f.apply.uncache_dispatch(K::CPU);
  CHECK(cached_ops().empty());
  f.call(x);
  reset_cached_ops();
  CHECK(cached_ops().empty());
  CHECK(f.notes == Notes{"composite", "cpu", "composite", "composite"});
}

TEST_CASE("under a mode the rule for its type runs, with the mode popped") {
  Fixture f;
  const RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  const RegistrationHandle rule =
      f.apply.impl_mode<SlotMode>([&](SlotMode& mode, DispatchKeySet, Stack* stack) {
        CHECK(current_mode() == nullptr);
        f.notes.push_back(mode.name());
        f.apply.call_boxed(stack);
      });
  SlotMode mode;
  ModeGuard guard(&mode);
  f.call(tensor_with(K::CPU));
  CHECK(f.notes == Notes{"SlotMode", "cpu"});
  CHECK(current_mode() == &mode);
}

TEST_CASE("a mode that the operator has no rule for is an error, and stays active") {
  Fixture f;
  const int line = __LINE__;
  const RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  SlotMode mode;
  ModeGuard guard(&mode);
  CHECK(message([&] { f.call(tensor_with(K::CPU)); }) ==
        str_cat("NotImplementedError: higher_order::apply: no rule for the mode SlotMode (",
                internal::type_name(typeid(SlotMode)),
                "); register one with impl_mode(), or let the mode say "
                "supports_higher_order_operators()\nregistered: CPU (",
                here(line + 1), ")"));
  CHECK(current_mode() == &mode);
  {
    IncludeKeysGuard python(K::Python);
    NoModesGuard none;
    IncludeKeysGuard again(K::Python);
    CHECK(message([&] { f.call(tensor_with(K::CPU)); }) ==
          "RuntimeError: higher_order::apply: entered at Python, but no mode is active and no "
          "argument belongs to one");
  }
}

TEST_CASE("a mode may handle the operators that have no rule for it") {
  Fixture f;
  const RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  struct Handles : DispatchMode {
    explicit Handles(bool all) : all(all) {}
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
    std::string name() const override { return "Handles"; }
    bool supports_higher_order_operators() const override { return all; }
    void call_higher_order(const HigherOrderOperator& op, DispatchKeySet, Stack* stack) override {
      CHECK(current_mode() == nullptr);
      handled += op.opname();
      op.call_boxed(stack);
    }
    const bool all;
    std::string handled;
  } every(true), none(false);
  {
    const ModeGuard guard(&every);
    f.call(tensor_with(K::CPU));
    CHECK(every.handled == "apply");
  }
  const ModeGuard guard(&none);
  CHECK_THROWS_AS(f.call(tensor_with(K::CPU)), NotImplementedError);
  {
    const RegistrationHandle rule = redirect_to_mode<Handles>(f.apply);
    f.call(tensor_with(K::CPU));
    CHECK(none.handled == "apply");
  }
  CHECK_THROWS_AS(f.call(tensor_with(K::CPU)), NotImplementedError);
}

TEST_CASE("a tensor's own mode is asked where none is active") {
  Fixture f;
  class Owned : public ModeData {
   public:
    explicit Owned(DispatchMode* mode) : mode_(mode) {}
    DispatchMode& mode() const override { return *mode_; }
    DispatchMode* mode_;
  };
  SlotMode owner, other;
  const Tensor x = tensor_with({K::CPU, K::Python}), y = tensor_with({K::CPU, K::Python});
  x.impl()->set_mode_data(make_intrusive<Owned>(&owner));
  y.impl()->set_mode_data(make_intrusive<Owned>(&other));
  const RegistrationHandle rule =
      f.apply.impl_mode<SlotMode>([&](SlotMode& mode, DispatchKeySet, Stack* stack) {
        CHECK(&mode == &owner);
        stack->clear();
      });
  CHECK(f.call(x).empty());
  CHECK(message([&] {
          f.apply({IValue(x), IValue(y)});
        }) ==
        "RuntimeError: higher_order::apply: arguments belong to different modes, SlotMode and "
        "SlotMode");
}

TEST_CASE("under a transform the rule for its type runs, or the call is refused") {
  class Vmap : public FunctionTransform {
    TransformType type() const override { return TransformType::Vmap; }
    std::string name() const override { return "vmap level 1"; }
    void call(const OperatorHandle&, DispatchKeySet, Stack*) override {}
  } vmap;
  Fixture f;
  const RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  FunctionTransformGuard guard(&vmap);
  CHECK(message([&] { f.call(); })
            .starts_with("NotImplementedError: higher_order::apply: no rule for the transform vmap "
                         "level 1 (Vmap); register one with impl_transform()\nregistered: CPU ("));
  CHECK(current_transform() == &vmap);
  const RegistrationHandle rule = f.apply.impl_transform(
      TransformType::Vmap, [&](FunctionTransform& t, DispatchKeySet, Stack* stack) {
        CHECK(current_transform() == nullptr);
        f.notes.push_back(t.name());
        f.apply.call_boxed(stack);
      });
  f.call(tensor_with(K::CPU));
  CHECK(f.notes == Notes{"vmap level 1", "cpu"});
}

TEST_CASE("before dispatch, the rule for the pre-dispatch mode runs; it is never cached") {
  Fixture f;
  SlotMode proxy(ModeKey::Proxy);
  const RegistrationHandle cpu = f.apply.impl(K::CPU, f.noting("cpu"));
  {
    PreDispatchModeGuard guard(&proxy);
    CHECK_THROWS_AS(f.call(), NotImplementedError);
    CHECK(current_pre_dispatch_mode() == &proxy);
  }
  const RegistrationHandle rule =
      f.apply.impl_mode<SlotMode>([&](SlotMode&, DispatchKeySet, Stack* stack) {
        CHECK(pre_dispatch_stack_size() == 0);
        f.notes.push_back("proxy");
        f.apply.call_boxed(stack);
      });
  const Tensor x = tensor_with(K::CPU);
  {
    PreDispatchModeGuard guard(&proxy);
    f.call(x);
    NoModesGuard none;
    f.call(x);
    CHECK(current_pre_dispatch_mode() == &proxy);
  }
  CHECK(f.notes == Notes{"proxy", "cpu", "cpu"});
  f.notes.clear();
  IncludeKeysGuard include(K::PreDispatch);
  f.call(x);  // no mode: passes on
  const RegistrationHandle own = f.apply.impl(K::PreDispatch, f.noting("own"));
  f.call(x);
  PreDispatchModeGuard guard(&proxy);
  f.call(x);
  CHECK(f.notes == Notes{"cpu", "own", "proxy", "cpu"});
}

TEST_CASE("rules of a higher-order operator come and go while four threads call") {
  Fixture f;
  const RegistrationHandle composite = f.apply.impl(
      K::CompositeExplicitAutograd, [](DispatchKeySet, Stack* stack) { *stack = {IValue(1)}; });
  constexpr int kThreads = 4, kCalls = 20000;
  std::atomic<int> running{kThreads};
  std::atomic<int64_t> wrong{0}, direct{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const Tensor x = tensor_with(K::CPU);
      for (int i = 0; i < kCalls; ++i) {
        const int64_t got = f.apply({IValue(x)})[0].to_int();
        direct += got == 2;
        wrong += got != 1 && got != 2;
      }
      --running;
    });
  }
  for (int64_t i = 0; running > 0; ++i) {
    auto first = std::make_shared<int64_t>(i), second = std::make_shared<int64_t>(i);
    const RegistrationHandle rule =
        f.apply.impl(K::CPU, [first, second](DispatchKeySet, Stack* stack) {
          *stack = {IValue(*first == *second ? 2 : -1)};
        });
    std::this_thread::yield();
    if (i % 3 == 0) reset_cached_ops();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(direct > 0);
  CHECK(f.apply({IValue(tensor_with(K::CPU))})[0].to_int() == 1);
}

TEST_CASE("a rule for a mode may decline: those for the modes that own arguments are asked") {
  Fixture f;
  class Owner : public SlotMode {
   public:
    std::string name() const override { return "Owner"; }
  } owner;
  class Owned : public ModeData {
   public:
    explicit Owned(DispatchMode* mode) : mode_(mode) {}
    DispatchMode& mode() const override { return *mode_; }
    DispatchMode* mode_;
  };
  const RegistrationHandle declines =
      f.apply.impl_mode<SlotMode>([](SlotMode&, DispatchKeySet, Stack*) { throw ModeDeclined(); });
  const Tensor x = tensor_with(K::CPU), owned = tensor_with({K::CPU, K::Python});
  owned.impl()->set_mode_data(make_intrusive<Owned>(&owner));
  const char* const declined =
      "TypeError: higher_order::apply: all modes that were asked declined: SlotMode";
  SlotMode mode, proxy(ModeKey::Proxy);
  std::optional<ModeGuard> guard;
  std::optional<PreDispatchModeGuard> pre_dispatch;
  SECTION("for a mode") { guard.emplace(&mode); }
  SECTION("for a pre-dispatch mode") { pre_dispatch.emplace(&proxy); }
  CHECK(message([&] { f.call(x); }) == declined);
  CHECK(message([&] {
          f.call(owned);
        }).starts_with("NotImplementedError: higher_order::apply: no rule for the mode Owner ("));
  const RegistrationHandle takes =
      f.apply.impl_mode<Owner>([](Owner&, DispatchKeySet, Stack* stack) { *stack = {IValue(5)}; });
  CHECK(f.call(owned)[0].to_int() == 5);
  CHECK(mode_stack_size() + pre_dispatch_stack_size() == 1);
}

}  // namespace
}  // namespace sb
