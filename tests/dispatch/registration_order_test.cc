// The table is a function of what is registered, not of when: kernels may come before the schema,
// backend kernels after composites. (libtorch refreshes the wrong autograd slot for Sparse,
// Quantized and NestedTensor kernels, so that there the order does show.) random_programs_test
// tries it at large.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a backend kernel after the composite gives the same as before it") {
  struct Pair {
    K backend, autograd;
    std::string rule;
  };
  for (const Pair& p : {Pair{K::CPU, K::AutogradCPU, "backend fallback"},
                        Pair{K::SparseCPU, K::AutogradOther, "ambiguous autogradother"},
                        Pair{K::QuantizedCUDA, K::AutogradOther, "ambiguous autogradother"},
                        Pair{K::NestedTensorCPU, K::AutogradNestedTensor, "missing"}}) {
    Recorder before, after;
    before.ends_at({p.backend, K::CompositeImplicitAutograd});
    after.ends_at({K::CompositeImplicitAutograd});
    CHECK(after.rule(p.autograd) == "math kernel");
    after.ends_at({p.backend});
    CHECK(before.rule(p.autograd) == p.rule);
    CHECK(after.rule(p.autograd) == p.rule);
  }
}

TEST_CASE("kernels and fallbacks may come before the schema") {
  Recorder f;
  Library kernels(f.dispatcher(), Library::Kind::Impl, "demo");
  kernels.impl("late", K::CPU, f.kernel("CPU"));
  f.fallback_at({K::PrivateUse1});
  CHECK_FALSE(f.dispatcher().find_op("demo::late"));
  const OperatorHandle late = f.library().define("late(Tensor x) -> ()");
  late.call({tensor_with(K::CPU)});
  late.call({tensor_with(K::PrivateUse1)});
  CHECK(f.log() == Log{"CPU", "fallback for PrivateUse1"});
}

TEST_CASE("a registration between two calls is seen by the second") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd});
  CHECK(f.call({K::CPU}) == Log{"CompositeImplicitAutograd for CPU"});
  f.ends_at({K::CPU});
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

}  // namespace
}  // namespace sb
