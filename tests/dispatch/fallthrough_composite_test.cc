// A fallthrough is a kernel in all rules: at an alias key it fills every slot that the alias would.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a fallthrough at Autograd makes every autograd key transparent") {
  Recorder f;
  f.falls_through_at({K::Autograd}).ends_at({K::PrivateUse1});
  CHECK(f.rule(K::AutogradPrivateUse1) == "autograd kernel");
  CHECK(f.call(tensor_key_set(DeviceType::PrivateUse1)) == Log{"PrivateUse1"});
}

TEST_CASE("a fallthrough at a composite hides the rules after it") {
  Recorder f;
  f.falls_through_at({K::CompositeExplicitAutograd}).ends_at({K::CompositeImplicitAutograd});
  CHECK(f.rule(K::CPU) == "default backend kernel");
  // Everything is masked, and the Undefined slot holds the same fallthrough.
  CHECK_THROWS_WITH(f.call({K::CPU}), Catch::Contains("fallthrough"));
}

}  // namespace
}  // namespace sb
