// In inference mode ADInplaceOrView is no longer included and all of autograd is excluded: calls go
// straight to backends. A tensor from outside still brings ADInplaceOrView with it.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("inference mode skips autograd and ADInplaceOrView") {
  Recorder f;
  f.passes_at({K::AutogradCPU, K::AutogradOther, K::AutogradNestedTensor, K::ADInplaceOrView});
  f.ends_at({K::CPU});
  const DispatchKeySet made_in_it = tensor_key_set(DeviceType::CPU, /*inference=*/true);
  CHECK(f.call(made_in_it) == Log{"ADInplaceOrView", "CPU"});
  InferenceModeGuard inference;
  CHECK(f.call(made_in_it) == Log{"CPU"});
  CHECK(f.call({K::CPU, K::AutogradOther, K::AutogradNestedTensor}) == Log{"CPU"});
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"ADInplaceOrView", "CPU"});
}

TEST_CASE("afterwards all is as before") {
  Recorder f;
  f.passes_at({K::AutogradCPU}).ends_at({K::CPU});
  { InferenceModeGuard inference; }
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"AutogradCPU", "CPU"});
}

}  // namespace
}  // namespace sb
