// Rule 3: CompositeExplicitAutograd serves every backend key and Undefined. It says nothing of
// gradients: autograd keys pass it by.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("it serves every backend key") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutograd});
  for (K key :
       {K::CPU, K::Meta, K::XLA, K::QuantizedCPU, K::SparseCUDA, K::SparseCsrCPU, K::SparseCsrCUDA,
        K::FPGA, K::Vulkan, K::Metal, K::CustomRNGKeyId, K::MkldnnCPU, K::Undefined})
    CHECK(f.rule(key) == "default backend kernel");
}

TEST_CASE("it serves no autograd key, no nested tensor, and no mode") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutograd});
  CHECK(f.rule(K::AutogradCPU) == "backend fallback");
  for (K key : {K::AutogradPrivateUse2, K::NestedTensorCPU, K::AutogradNestedTensor, K::Tracer,
                K::Batched, K::Functionalize})
    CHECK(f.rule(key) == "missing");
}

TEST_CASE("a tensor with an autograd key reaches it below autograd") {
  Recorder f;
  f.passes_at({K::AutogradCPU}).ends_at({K::CompositeExplicitAutograd});
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) ==
        Log{"AutogradCPU", "CompositeExplicitAutograd for CPU"});
}

}  // namespace
}  // namespace sb
