// With no functionality left, a call goes to the Undefined slot, whatever backends are left. The
// composites serve it: NonFunctional, explicit, implicit, in that order; the nested one does not.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a call without tensors runs the Undefined slot") {
  Recorder f;
  f.ends_at({K::Undefined});
  CHECK(f.call({std::vector<Tensor>{}}) == Log{"Undefined"});
}

TEST_CASE("so does a call whose functionalities are all taken away, backends or not") {
  Recorder f;
  f.passes_at({K::CPU}).ends_at({K::Undefined, K::CUDA});
  CHECK(f.call({K::CPU}) == Log{"CPU", "Undefined"});
}

TEST_CASE("the composites serve it in their order") {
  Recorder nested, implicit, all;
  nested.ends_at({K::CompositeImplicitAutogradNestedTensor, K::Autograd});
  CHECK(nested.rule(K::Undefined) == "missing");
  implicit.ends_at({K::CompositeImplicitAutograd});
  CHECK(implicit.rule(K::Undefined) == "math kernel");
  all.ends_at({K::CompositeImplicitAutograd, K::CompositeExplicitAutograd});
  CHECK(all.redispatch({}) == Log{"CompositeExplicitAutograd for Undefined"});
  all.ends_at({K::CompositeExplicitAutogradNonFunctional});
  CHECK(all.redispatch({}) == Log{"CompositeExplicitAutogradNonFunctional for Undefined"});
}

TEST_CASE("Undefined takes no fallback, and nothing masks a fallthrough there") {
  Recorder f;
  CHECK_THROWS_AS(f.fallback_at({K::Undefined}), RuntimeError);
  f.falls_through_at({K::Undefined});
  CHECK_THROWS_WITH(f.call({std::vector<Tensor>{}}), Catch::Contains("fallthrough"));
}

}  // namespace
}  // namespace sb
