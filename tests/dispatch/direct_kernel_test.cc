// Rule 1: a kernel registered at the key itself is used before any alias kernel and any fallback.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a kernel at the key itself comes first, and other keys do not see it") {
  Recorder f;
  f.ends_at({K::CPU, K::AutogradCPU, K::NestedTensorCPU, K::FuncTorchBatched});
  f.ends_at({K::CompositeExplicitAutogradNonFunctional, K::CompositeExplicitAutograd,
             K::CompositeImplicitAutogradNestedTensor, K::CompositeImplicitAutograd, K::Autograd,
             K::FuncTorchBatchedDecomposition});
  f.fallback_at({K::CPU});
  for (K key : {K::CPU, K::AutogradCPU, K::NestedTensorCPU, K::FuncTorchBatched}) {
    CHECK(f.rule(key) == "kernel");
    CHECK(f.redispatch(key) == Log{std::string(to_string(key))});
  }
  CHECK(f.rule(K::CUDA) == "default backend kernel");
  CHECK(f.rule(K::AutogradCUDA) == "autograd kernel");
}

}  // namespace
}  // namespace sb
