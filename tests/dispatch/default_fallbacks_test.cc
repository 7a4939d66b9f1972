// Every dispatcher begins with fallthroughs where calls should pass unless somebody registers
// otherwise. That is why a tensor's autograd key does not get into the way of a CPU kernel.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("these keys fall through by default, and no others") {
  Recorder f;
  const std::vector<K> fallthroughs = {
      K::BackendSelect, K::ADInplaceOrView, K::AutogradOther, K::AutogradCPU,       K::AutogradCUDA,
      K::AutogradXLA,   K::AutogradMPS,     K::AutogradXPU,   K::AutogradHPU,       K::AutogradLazy,
      K::AutogradMeta,  K::AutocastCPU,     K::AutocastCUDA,  K::FuncTorchVmapMode, K::VmapMode};
  std::vector<K> found = f.keys_by("backend fallback");
  // Where modes, transforms and an operator's own rules are called.
  for (K key : {K::Python, K::PreDispatch, K::PythonDispatcher, K::FuncTorchDynamicLayerFrontMode})
    CHECK(std::erase(found, key) == 1);
  CHECK(found == fallthroughs);
}

TEST_CASE("a backend whose autograd key has no fallback cannot be reached through it") {
  Recorder f;
  f.ends_at({K::PrivateUse1, K::IPU});
  for (DeviceType device : {DeviceType::PrivateUse1, DeviceType::IPU})
    CHECK_THROWS_AS(f.call(tensor_key_set(device)), NotImplementedError);
  f.fallback_falls_through_at({K::AutogradPrivateUse1});
  CHECK(f.call(tensor_key_set(DeviceType::PrivateUse1)) == Log{"PrivateUse1"});
}

}  // namespace
}  // namespace sb
