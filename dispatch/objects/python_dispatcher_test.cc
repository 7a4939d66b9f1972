#include "switchboard/dispatch/objects/python_dispatcher.h"

#include <atomic>
#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(which, "pydispatch::which(Tensor x) -> str");
SB_OP(plain, "pydispatch::plain(Tensor x) -> str");

using K = DispatchKey;
using Names = std::vector<std::string>;

OperatorBase::Rule giving(std::string text) {
  return [text](DispatchKeySet, Stack* stack) { stack->back() = IValue(text); };
}
auto kernel_giving(std::string text) {
  return [text](const Tensor&) { return text; };
}

class PlainMode : public DispatchMode {
 public:
  explicit PlainMode(std::optional<ModeKey> key = std::nullopt) : key_(key) {}
  void call(const OperatorHandle&, DispatchKeySet, Stack* stack) override {
    stack->back() = IValue("mode");
  }
  std::string name() const override { return "PlainMode"; }
  std::optional<ModeKey> mode_key() const override { return key_; }

 private:
  std::optional<ModeKey> key_;
};

struct Fixture {
  Fixture() : library(Library::Kind::Def, "pydispatch") {
    library.define(which);
    library.define(plain);
    library.impl(plain, K::CPU, kernel_giving("plain CPU kernel"));
  }
  OperatorBase& base() { return operator_base(which.handle().entry()); }
  void kernel(K key) {
    library.impl(which, key, kernel_giving(std::string(to_string(key)) + " kernel"));
  }
  [[nodiscard]] RegistrationHandle rule(K key) {
    return base().impl(key, giving(std::string(to_string(key)) + " rule"));
  }
  Library library;
};

// What a call on a tensor with exactly these keys gives while the Python dispatcher is on.
std::string call(DispatchKeySet keys) {
  EnablePythonDispatcher on;
  return which(tensor_with(keys));
}

TEST_CASE("an operator's own rules are used only while the Python dispatcher is on") {
  Fixture f;
  f.kernel(K::CPU);
  const RegistrationHandle rule = f.rule(K::CPU);
  const Tensor x = tensor_with(K::CPU);
  CHECK(which(x) == "CPU kernel");
  {
    EnablePythonDispatcher on;
    CHECK(which(x) == "CPU rule");
    {
      DisablePythonDispatcher off;
      CHECK(which(x) == "CPU kernel");
    }
    CHECK(which.handle().call({IValue(x)})[0].to_string_view() == "CPU rule");
  }
  CHECK(which(x) == "CPU kernel");
}

TEST_CASE("operators without rules go by their tables") {
  Fixture f;
  EnablePythonDispatcher on;
  CHECK(plain(tensor_on(DeviceType::CPU)) == "plain CPU kernel");
  CHECK(find_operator_base(plain.handle().entry()) == nullptr);
  CHECK_THROWS_AS(plain(tensor_with(K::CUDA)), NotImplementedError);
}

TEST_CASE("rules and kernels are resolved together, a rule first where both are") {
  Fixture f;
  f.kernel(K::CPU);
  const RegistrationHandle implicit = f.rule(K::CompositeImplicitAutograd);
  CHECK(call(K::CPU) == "CPU kernel");
  CHECK(call(K::CUDA) == "CompositeImplicitAutograd rule");
  f.kernel(K::CompositeExplicitAutograd);
  CHECK(call(K::CUDA) == "CompositeExplicitAutograd kernel");
  const RegistrationHandle explicit_rule = f.rule(K::CompositeExplicitAutograd);
  CHECK(call(K::CUDA) == "CompositeExplicitAutograd rule");
  CHECK(call(K::CPU) == "CPU kernel");
}

TEST_CASE("a rule at a backend keeps an implicit composite kernel from its autograd key") {
  Fixture f;
  f.kernel(K::CompositeImplicitAutograd);
  f.kernel(K::Autograd);
  CHECK(call(K::AutogradCPU) == "CompositeImplicitAutograd kernel");
  const RegistrationHandle cpu = f.rule(K::CPU);
  CHECK(call(K::AutogradCPU) == "Autograd kernel");
  CHECK(call(K::AutogradCUDA) == "CompositeImplicitAutograd kernel");
}

TEST_CASE(
    "the backend fallback comes last, and then the error that names the operator and the key") {
  Fixture f;
  const RegistrationHandle cpu = f.rule(K::CPU);
  CHECK_THROWS_WITH(call(K::PrivateUse2),
                    Catch::StartsWith("pydispatch::which: no kernel for PrivateUse2"));
  {
    Library fallbacks(Library::Kind::Impl, "_");
    fallbacks.fallback(K::PrivateUse2, [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      stack->back() = IValue("fallback");
    });
    CHECK(call(K::PrivateUse2) == "fallback");
  }
  CHECK_THROWS_AS(call(K::PrivateUse2), NotImplementedError);
}

TEST_CASE("rules get the keys of the call without PythonDispatcher, and may pass it on") {
  Fixture f;
  f.kernel(K::CPU);
  const RegistrationHandle tracer = f.base().impl(K::Tracer, [](DispatchKeySet keys, Stack* stack) {
    CHECK(keys == DispatchKeySet{K::Tracer, K::CPU});
    which.handle().redispatch_boxed(keys - K::Tracer, stack);
  });
  ExcludeKeysGuard only({K::BackendSelect, K::ADInplaceOrView});
  CHECK(call({K::Tracer, K::CPU}) == "CPU kernel");
}

TEST_CASE("what was found out for a key is cached until a registration or removal") {
  Fixture f;
  RegistrationHandle implicit = f.rule(K::CompositeImplicitAutograd);
  CHECK(cached_ops().empty());
  CHECK(call(K::CPU) == "CompositeImplicitAutograd rule");
  CHECK(cached_ops() == Names{"pydispatch::which"});
  {
    Library brief(Library::Kind::Impl, "pydispatch");
    brief.impl(which, K::CPU, kernel_giving("brief"));
    CHECK(cached_ops().empty());
    CHECK(call(K::CPU) == "brief");
  }
  CHECK(cached_ops().empty());
  CHECK(call(K::CPU) == "CompositeImplicitAutograd rule");
  RegistrationHandle cpu = f.rule(K::CPU);
  CHECK(call(K::CPU) == "CPU rule");
  cpu.destroy();
  CHECK(call(K::CPU) == "CompositeImplicitAutograd rule");
  f.base().uncache_dispatch(K::CPU);
  CHECK(cached_ops().empty());
  call(K::CPU);
  reset_cached_ops();
  CHECK(cached_ops().empty());
}

TEST_CASE("a fallback that is registered or removed is seen although the operator was cached") {
  Fixture f;
  const RegistrationHandle cpu = f.rule(K::CPU);
  CHECK_THROWS_AS(call(K::PrivateUse3), NotImplementedError);
  for (const char* text : {"one", "two"}) {
    Library fallbacks(Library::Kind::Impl, "_");
    fallbacks.fallback(K::PrivateUse3, [text](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      stack->back() = IValue(text);
    });
    CHECK(call(K::PrivateUse3) == text);
  }
}

TEST_CASE("at the mode key the rule for the mode's type runs, else the table's kernel") {
  Fixture f;
  f.kernel(K::CPU);
  EnablePythonDispatcher on;
  PlainMode mode;
  ModeGuard guard(&mode);
  const Tensor x = tensor_with(K::CPU);
  CHECK(which(x) == "mode");
  {
    const RegistrationHandle rule =
        f.base().impl_mode<PlainMode>([&](PlainMode& m, DispatchKeySet keys, Stack* stack) {
          CHECK(&m == &mode);
          CHECK(keys.highest_key() == K::Python);
          CHECK(current_mode() == nullptr);
          stack->back() = IValue("mode rule");
        });
    CHECK(which(x) == "mode rule");
    // Also if the operator has a kernel of its own at the mode key.
    Library brief(Library::Kind::Impl, "pydispatch");
    brief.impl(which, K::Python, kernel_giving("Python kernel"));
    CHECK(which(x) == "mode rule");
  }
  f.kernel(K::Python);
  CHECK(which(x) == "Python kernel");
  CHECK(current_mode() == &mode);
  CHECK(cached_ops().empty());
}

TEST_CASE("a mode is back after its rule threw") {
  Fixture f;
  EnablePythonDispatcher on;
  PlainMode mode;
  ModeGuard guard(&mode);
  const RegistrationHandle rule = f.base().impl_mode<PlainMode>(
      [](PlainMode&, DispatchKeySet, Stack*) { throw ValueError("no"); });
  CHECK_THROWS_AS(which(tensor_with(K::CPU)), ValueError);
  CHECK(current_mode() == &mode);
}

TEST_CASE("before dispatch the pre-dispatch mode is called, and nothing is cached") {
  Fixture f;
  f.kernel(K::CPU);
  const RegistrationHandle rule = f.rule(K::PreDispatch);
  EnablePythonDispatcher on;
  const Tensor x = tensor_with(K::CPU);
  PlainMode proxy(ModeKey::Proxy);
  {
    PreDispatchModeGuard guard(&proxy);
    CHECK(which(x) == "mode");
    CHECK(current_pre_dispatch_mode() == &proxy);
    NoModesGuard none;
    CHECK(which(x) == "CPU kernel");
  }
  reset_cached_ops();
  {
    IncludeKeysGuard include(K::PreDispatch);
    CHECK(which(x) == "PreDispatch rule");
    CHECK(cached_ops().empty());
    PreDispatchModeGuard guard(&proxy);
    CHECK(which(x) == "mode");
  }
}

TEST_CASE("a wrapper sees the kernels of all operators at its key, rules too, and can go on") {
  Fixture f;
  f.kernel(K::Functionalize);
  CHECK(call(K::Functionalize) == "Functionalize kernel");
  Names seen;
  {
    WrapKernelsGuard wrap(
        K::Functionalize, [&](const OperatorHandle& op, const OperatorBase::Rule& kernel,
                              DispatchKeySet keys, Stack* stack) {
          seen.push_back(op.name().to_string());
          kernel(keys, stack);
          stack->back() = IValue("wrapped " + std::string(stack->back().to_string_view()));
        });
    CHECK(call(K::Functionalize) == "wrapped Functionalize kernel");
    CHECK(call(K::Functionalize) == "wrapped Functionalize kernel");
    f.library.impl(plain, K::Functionalize, kernel_giving("plain"));
    {
      EnablePythonDispatcher on;
      CHECK(plain(tensor_with(K::Functionalize)) == "wrapped plain");
    }
    const RegistrationHandle rule = f.rule(K::Functionalize);
    CHECK(call(K::Functionalize) == "wrapped Functionalize rule");
    CHECK(which(tensor_with(K::Functionalize)) == "Functionalize kernel");
    CHECK_THROWS_WITH(WrapKernelsGuard(K::Functionalize, [](auto&&...) {}),
                      "WrapKernelsGuard: the kernels at Functionalize are wrapped already");
  }
  CHECK(call(K::Functionalize) == "Functionalize kernel");
  CHECK(seen ==
        Names{"pydispatch::which", "pydispatch::which", "pydispatch::plain", "pydispatch::which"});
}

TEST_CASE("kernels that depend on modes, and keys without any, cannot be wrapped") {
  const KernelWrapper wrapper = [](auto&&...) {};
  for (K key : {K::Python, K::PreDispatch, K::PythonDispatcher, K::Autograd, K::Dense}) {
    CHECK_THROWS_WITH(
        WrapKernelsGuard(key, wrapper),
        "WrapKernelsGuard: the kernels at " + std::string(to_string(key)) + " cannot be wrapped");
  }
  CHECK_THROWS_WITH(WrapKernelsGuard(K::CPU, nullptr),
                    "WrapKernelsGuard: expected a wrapper for CPU, got an empty function");
}

TEST_CASE(
    "an operator that is removed and defined anew has no rules, and calls of it fail before") {
  OperatorHandle op = [] {
    Fixture f;
    f.base().impl(K::CPU, giving("rule")).release();
    CHECK(call(K::CPU) == "rule");
    return which.handle();
  }();
  CHECK(cached_ops().empty());
  EnablePythonDispatcher on;
  Stack stack = {IValue(tensor_with(K::CPU))};
  CHECK_THROWS_WITH(op.call_boxed(&stack),
                    Catch::StartsWith("pydispatch::which: the operator was removed"));
  Fixture f;
  f.kernel(K::CPU);
  CHECK(which(tensor_with(K::CPU)) == "CPU kernel");
}

TEST_CASE("rules and kernels come and go while four threads call by the Python dispatcher") {
  Fixture f;
  f.library.impl(which, K::CompositeExplicitAutograd, kernel_giving("1"));
  constexpr int kThreads = 4, kCalls = 10000;
  std::atomic<int> running{kThreads};
  std::atomic<int64_t> wrong{0}, by_rule{0}, by_kernel{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      EnablePythonDispatcher on;
      const Tensor x = tensor_with(K::CPU);
      // Until both were met, which takes long on a machine that does other things.
      for (int i = 0; i < kCalls || ((by_rule == 0 || by_kernel == 0) && i < 1000 * kCalls); ++i) {
        const std::string got(which(x));
        by_rule += got == "2";
        by_kernel += got == "3";
        wrong += got != "1" && got != "2" && got != "3";
      }
      --running;
    });
  }
  while (running > 0) {
    {
      const RegistrationHandle rule = f.base().impl(K::CPU, giving("2"));
      std::this_thread::yield();
    }
    Library brief(Library::Kind::Impl, "pydispatch");
    brief.impl(which, K::CPU, kernel_giving("3"));
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  CAPTURE(by_rule.load(), by_kernel.load());
  CHECK(wrong == 0);
  CHECK(by_rule > 0);
  CHECK(by_kernel > 0);
  EnablePythonDispatcher on;
  CHECK(which(tensor_with(K::CPU)) == "1");
}

TEST_CASE("a rule for a mode may decline, as the mode may") {
  Fixture f;
  EnablePythonDispatcher on;
  PlainMode mode;
  ModeGuard guard(&mode);
  const RegistrationHandle rule = f.base().impl_mode<PlainMode>(
      [](PlainMode&, DispatchKeySet, Stack*) { throw ModeDeclined(); });
  CHECK_THROWS_AS(which(tensor_with(K::CPU)), TypeError);
  CHECK_THROWS_WITH(which(tensor_with(K::CPU)),
                    "pydispatch::which: all modes that were asked declined: PlainMode");
  CHECK(current_mode() == &mode);
  // The same by way of a mode that was above it.
  class Outer : public DispatchMode {
   public:
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      op.call_boxed(stack);
    }
    std::string name() const override { return "Outer"; }
  } outer;
  ModeGuard above(&outer);
  CHECK_THROWS_WITH(which(tensor_with(K::CPU)),
                    "pydispatch::which: all modes that were asked declined: PlainMode");
}

}  // namespace
}  // namespace sb
