// An alias key stands for runtime keys. Kernels are registered at it; no set of keys ever has it,
// and no call goes to it: its kernels run for the keys that it stands for.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("an alias key is not a runtime key, and its set is empty") {
  for (K alias : {K::Autograd, K::CompositeImplicitAutograd, K::CompositeExplicitAutograd,
                  K::CompositeExplicitAutogradNonFunctional,
                  K::CompositeImplicitAutogradNestedTensor, K::FuncTorchBatchedDecomposition}) {
    CHECK(is_alias_key(alias));
    CHECK_FALSE(is_runtime_key(alias));
    CHECK(DispatchKeySet(alias).empty());
    CHECK_FALSE(DispatchKeySet::full().has(alias));
  }
  CHECK_FALSE(is_alias_key(K::AutogradCPU));
}

TEST_CASE("the kernel of an alias key runs for the runtime key of the call") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd});
  CHECK(f.call({K::CPU}) == Log{"CompositeImplicitAutograd for CPU"});
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CompositeImplicitAutograd for AutogradCPU"});
}

TEST_CASE("a bare functionality is no key to register at") {
  Recorder f;
  for (K functionality : {K::Dense, K::Sparse, K::AutogradFunctionality})
    CHECK_THROWS_AS(f.ends_at({functionality}), RuntimeError);
}

}  // namespace
}  // namespace sb
