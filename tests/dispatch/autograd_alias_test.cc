// Rule 6: a kernel at Autograd serves AutogradOther, Autograd on every backend and
// AutogradNestedTensor: one gradient formula for all backends.

#include "catch2/catch.hpp"
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
  for (K key : {K::AutogradCPU, K::AutogradMeta, K::AutogradPrivateUse1})
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

}  // namespace
}  // namespace sb
