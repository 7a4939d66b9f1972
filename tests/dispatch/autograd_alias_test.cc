// Rule 6: a kernel at Autograd serves AutogradOther, Autograd on every backend and
// AutogradNestedTensor: one gradient formula for all backends.

#include <optional>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("it serves every autograd key, and nothing else") {
  Recorder f;
  f.ends_at({K::Autograd});
  const std::vector<K> keys = f.keys_by("autograd kernel");
  CHECK(keys.size() == kNumBackends + 2);
  CHECK(keys.front() == K::AutogradOther);
  CHECK(keys.back() == K::AutogradNestedTensor);
  for (K key : {K::AutogradCPU, K::AutogradMeta, K::AutogradPrivateUse2})
    CHECK(f.rule(key) == "autograd kernel");
  CHECK(f.rule(K::ADInplaceOrView) == "backend fallback");
}

TEST_CASE("it goes before the backend fallback, and after a kernel at the key itself") {
  Recorder f;
  f.passes_at({K::Autograd, K::AutogradCUDA}).ends_at({K::CPU, K::CUDA});
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"Autograd for AutogradCPU", "CPU"});
  CHECK(f.call(tensor_key_set(DeviceType::CUDA)) == Log{"AutogradCUDA", "CUDA"});
}

TEST_CASE("the implicit composite goes before it, where no backend kernel stands in the way") {
  Recorder f;
  f.ends_at({K::Autograd, K::CompositeImplicitAutograd, K::CPU});
  CHECK(f.rule(K::AutogradCPU) == "autograd kernel");
  CHECK(f.rule(K::AutogradCUDA) == "math kernel");
}

TEST_CASE("below autograd, calls that are made anew do not enter it again") {
  Dispatcher dispatcher;
  Library m(dispatcher, Library::Kind::Def, "demo");
  const OperatorHandle op = m.define("f(Tensor x) -> ()");
  int noted = 0, computed = 0;
  bool guarded = false;
  m.impl("f", K::Autograd, [&](const OperatorHandle& f, DispatchKeySet keys, Stack* stack) {
    ++noted;
    std::optional<BelowAutogradGuard> below;
    if (guarded) below.emplace();
    f.redispatch_boxed(keys & DispatchKeySet::below(K::AutogradFunctionality), stack);
  });
  // As a mode or the fallback of a device does.
  m.impl("f", K::BackendSelect, [&](const OperatorHandle& f, DispatchKeySet, Stack* stack) {
    const ExcludeKeysGuard once(K::BackendSelect);
    f.call_boxed(stack);
  });
  m.impl("f", K::CPU, [&](const OperatorHandle&, DispatchKeySet, Stack* stack) {
    ++computed;
    stack->clear();
  });
  for (const bool guard : {false, true}) {
    guarded = guard;
    noted = computed = 0;
    Stack stack{tensor_on(DeviceType::CPU)};
    op.call_boxed(&stack);
    CHECK(noted == (guard ? 1 : 2));
    CHECK(computed == 1);
  }
}

}  // namespace
}  // namespace sb
