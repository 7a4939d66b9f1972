// Rule 5: CompositeImplicitAutograd serves backends, nested tensors, every autograd key and
// Undefined: it is written in operators that have gradients, so that it needs none of its own.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("alone, it serves backends, nested tensors and autograd keys") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd});
  for (K key :
       {K::CPU, K::SparseCUDA, K::QuantizedMeta, K::FPGA, K::NestedTensorCPU, K::AutogradCPU,
        K::AutogradPrivateUse1, K::AutogradOther, K::AutogradNestedTensor, K::Undefined})
    CHECK(f.rule(key) == "math kernel");
}

TEST_CASE("it serves no functionality that is neither a backend nor autograd") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd});
  for (K key : {K::Tracer, K::Functionalize, K::Conjugate, K::Batched})
    CHECK(f.rule(key) == "missing");
  for (K key : {K::ADInplaceOrView, K::BackendSelect}) CHECK(f.rule(key) == "backend fallback");
}

TEST_CASE("a call runs it once, at the highest key: it takes the place of the autograd kernel") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd});
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) ==
        Log{"CompositeImplicitAutograd for AutogradCPU"});
}

}  // namespace
}  // namespace sb
