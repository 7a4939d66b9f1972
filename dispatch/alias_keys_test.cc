#include "switchboard/dispatch/alias_keys.h"

#include <vector>

#include "catch2/catch.hpp"

namespace sb {
namespace {

using K = DispatchKey;
using Keys = std::vector<K>;

TEST_CASE("an alias key covers what PyTorch says it does") {
  struct Case {
    K alias;
    Keys covered, left_out;
  };
  const Case cases[] = {
      {K::Autograd,
       {K::AutogradCPU, K::AutogradPrivateUse1, K::AutogradOther, K::AutogradNestedTensor},
       {K::Undefined, K::CPU, K::ADInplaceOrView}},
      {K::CompositeExplicitAutograd,
       {K::Undefined, K::CPU, K::XLA, K::QuantizedCPU, K::SparseCUDA, K::FPGA, K::SparseCsrCPU},
       {K::NestedTensorCPU, K::AutogradCPU, K::BackendSelect, K::Python}},
      {K::CompositeExplicitAutogradNonFunctional,
       {K::Undefined, K::CPU, K::Meta, K::QuantizedCPU, K::FPGA},
       {K::XLA, K::Lazy, K::QuantizedXLA, K::SparseCPU, K::NestedTensorCPU, K::AutogradCPU}},
      {K::CompositeImplicitAutogradNestedTensor,
       {K::NestedTensorCPU, K::NestedTensorCUDA, K::AutogradNestedTensor},
       {K::Undefined, K::CPU, K::AutogradCPU}},
      {K::CompositeImplicitAutograd,
       {K::Undefined, K::CPU, K::SparseCPU, K::NestedTensorCPU, K::AutogradCPU, K::AutogradOther},
       {K::BackendSelect, K::Python, K::ADInplaceOrView, K::Tracer, K::AutocastCPU}},
      {K::FuncTorchBatchedDecomposition,
       {K::FuncTorchBatched},
       {K::Undefined, K::CPU, K::Batched, K::AutogradCPU}},
  };
  for (const Case& c : cases) {
    for (K key : c.covered) {
      CAPTURE(c.alias, key);
      CHECK(alias_includes(c.alias, key));
    }
    for (K key : c.left_out) {
      CAPTURE(c.alias, key);
      CHECK_FALSE(alias_includes(c.alias, key));
    }
  }
  CHECK_FALSE(alias_includes(K::CPU, K::CPU));
}

TEST_CASE("behind an autograd key are the backends that it is for") {
  CHECK(backend_keys_behind(K::AutogradCPU) == K::CPU);
  CHECK(backend_keys_behind(K::AutogradXLA) == K::XLA);
  const DispatchKeySet other = backend_keys_behind(K::AutogradOther);
  for (K key : {K::SparseCPU, K::QuantizedCUDA, K::FPGA, K::MkldnnCPU}) CHECK(other.has(key));
  for (K key : {K::CPU, K::NestedTensorCPU, K::AutogradCPU}) CHECK_FALSE(other.has(key));
  CHECK(backend_keys_behind(K::AutogradNestedTensor).has(K::NestedTensorCPU));
  CHECK_FALSE(backend_keys_behind(K::AutogradNestedTensor).has(K::CPU));
  for (K key : {K::CPU, K::Undefined, K::Autograd, K::ADInplaceOrView})
    CHECK(backend_keys_behind(key).empty());
}

}  // namespace
}  // namespace sb
