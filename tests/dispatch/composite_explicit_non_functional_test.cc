// Rule 2: CompositeExplicitAutogradNonFunctional serves the backend keys and Undefined, but nothing
// sparse and nothing on XLA and Lazy, where views need kernels of their own. It goes before
// CompositeExplicitAutograd.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("it serves dense and quantized backends and Undefined") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutogradNonFunctional});
  for (K key : {K::CPU, K::CUDA, K::Meta, K::PrivateUse1, K::QuantizedCPU, K::FPGA, K::MkldnnCPU,
                K::SparseCsrCPU, K::Undefined})
    CHECK(f.rule(key) == "default backend kernel");
}

TEST_CASE("it leaves out Sparse, XLA and Lazy") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutogradNonFunctional});
  for (K key : {K::SparseCPU, K::SparseCUDA, K::XLA, K::QuantizedXLA, K::Lazy, K::QuantizedLazy,
                K::NestedTensorCPU})
    CHECK(f.rule(key) == "missing");
}

TEST_CASE("it goes before CompositeExplicitAutograd, which serves what it leaves") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutograd, K::CompositeExplicitAutogradNonFunctional});
  CHECK(f.call({K::CPU}) == Log{"CompositeExplicitAutogradNonFunctional for CPU"});
  CHECK(f.call({K::SparseCPU}) == Log{"CompositeExplicitAutograd for SparseCPU"});
  CHECK(f.call({K::XLA}) == Log{"CompositeExplicitAutograd for XLA"});
}

}  // namespace
}  // namespace sb
