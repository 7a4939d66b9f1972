// Rule 4: CompositeImplicitAutogradNestedTensor serves NestedTensor on every backend and
// AutogradNestedTensor, before CompositeImplicitAutograd does.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("it serves nested tensors and their autograd key only") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutogradNestedTensor});
  for (K key :
       {K::NestedTensorCPU, K::NestedTensorCUDA, K::NestedTensorMeta, K::AutogradNestedTensor})
    CHECK(f.rule(key) == "nested kernel");
  for (K key : {K::CPU, K::Undefined, K::AutogradPrivateUse2}) CHECK(f.rule(key) == "missing");
  CHECK(f.keys_by("nested kernel").size() == kNumBackends + 1);
}

TEST_CASE("it goes before CompositeImplicitAutograd, which serves everything else") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::CompositeImplicitAutogradNestedTensor});
  CHECK(f.call({K::NestedTensorCPU}) ==
        Log{"CompositeImplicitAutogradNestedTensor for NestedTensorCPU"});
  CHECK(f.call({K::CPU}) == Log{"CompositeImplicitAutograd for CPU"});
}

TEST_CASE("a kernel for nested tensors does not keep it from their autograd key") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutogradNestedTensor, K::NestedTensorCPU});
  CHECK(f.rule(K::AutogradNestedTensor) == "nested kernel");
}

}  // namespace
}  // namespace sb
