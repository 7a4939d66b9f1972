// Part of rule 5: at an autograd key whose own backend has a kernel, CompositeImplicitAutograd is
// not used: the call must reach that kernel. Only kernels of this operator count, fallthroughs
// among them; backend fallbacks do not. An explicit composite counts for all backends.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a kernel at CPU takes AutogradCPU, and only that, from the implicit composite") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::CPU});
  CHECK(f.rule(K::AutogradCPU) == "backend fallback");
  CHECK(f.rule(K::AutogradCUDA) == "math kernel");
  CHECK(f.rule(K::CUDA) == "math kernel");
  CHECK(f.rule(K::NestedTensorCPU) == "math kernel");
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"CPU"});
}

TEST_CASE("a fallthrough at the backend counts as a kernel there") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd}).falls_through_at({K::CPU});
  CHECK(f.rule(K::AutogradCPU) == "backend fallback");
}

TEST_CASE("a fallback at the backend does not count") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd}).fallback_at({K::CPU});
  CHECK(f.rule(K::AutogradCPU) == "math kernel");
}

TEST_CASE("an explicit composite hides the implicit one at every autograd key") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::CompositeExplicitAutograd});
  CHECK(f.rule(K::AutogradCUDA) == "backend fallback");
  CHECK(f.rule(K::AutogradPrivateUse2) == "missing");
  CHECK(f.rule(K::NestedTensorCPU) == "missing");
}

TEST_CASE("a NonFunctional composite does not hide it") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::CompositeExplicitAutogradNonFunctional});
  CHECK(f.rule(K::AutogradCUDA) == "math kernel");
}

TEST_CASE("a kernel for nested tensors takes AutogradNestedTensor from it") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::NestedTensorCUDA});
  CHECK(f.rule(K::AutogradNestedTensor) == "missing");
}

}  // namespace
}  // namespace sb
