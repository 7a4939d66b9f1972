// AutogradOther is shared by many backends. With an implicit composite and a kernel at one of those
// backends, nobody can say whether a call there wants the composite's gradient or the kernel's: the
// slot is ambiguous, and fails when it is called, not when it is registered.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("any backend behind AutogradOther makes it ambiguous") {
  for (K backend : {K::SparseCPU, K::SparseCUDA, K::QuantizedCPU, K::FPGA, K::Vulkan, K::Metal,
                    K::CustomRNGKeyId, K::MkldnnCPU, K::SparseCsrCPU, K::SparseCsrCUDA}) {
    Recorder f;
    f.ends_at({K::CompositeImplicitAutograd, backend});
    CHECK(f.rule(K::AutogradOther) == "ambiguous autogradother");
    CHECK_THROWS_WITH(f.call({backend, K::AutogradOther}),
                      Catch::Contains("demo::f: ambiguous at AutogradOther"));
    CHECK(f.log().empty());
  }
}

TEST_CASE("a backend with an autograd key of its own does not") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::CPU, K::NestedTensorCPU});
  CHECK(f.rule(K::AutogradOther) == "math kernel");
}

TEST_CASE("a fallthrough counts, a fallback does not") {
  Recorder f, g;
  f.ends_at({K::CompositeImplicitAutograd}).falls_through_at({K::SparseCPU});
  CHECK(f.rule(K::AutogradOther) == "ambiguous autogradother");
  g.ends_at({K::CompositeImplicitAutograd}).fallback_at({K::SparseCPU});
  CHECK(g.rule(K::AutogradOther) == "math kernel");
}

TEST_CASE("a kernel at AutogradOther resolves it; one at the Autograd alias does not") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::SparseCPU, K::Autograd});
  CHECK(f.rule(K::AutogradOther) == "ambiguous autogradother");
  f.ends_at({K::AutogradOther});
  CHECK(f.call({K::SparseCPU, K::AutogradOther}) == Log{"AutogradOther"});
}

TEST_CASE("a sparse tensor that carries AutogradCPU, as a real one does, never gets there") {
  Recorder f;
  f.ends_at({K::CompositeImplicitAutograd, K::SparseCPU});
  CHECK(f.call({K::SparseCPU, K::AutogradCPU}) == Log{"CompositeImplicitAutograd for AutogradCPU"});
}

TEST_CASE("without the implicit composite nothing is ambiguous") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutograd, K::SparseCPU});
  CHECK(f.rule(K::AutogradOther) == "backend fallback");
}

}  // namespace
}  // namespace sb
