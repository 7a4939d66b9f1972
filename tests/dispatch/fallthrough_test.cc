// A fallthrough kernel makes a key transparent for its operator: calls pass on to the next key by a
// mask, without entering it.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a fallthrough passes the call on without running") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
}

TEST_CASE("several in a row are passed at once") {
  Recorder f;
  f.falls_through_at({K::Tracer, K::AutogradCPU, K::Conjugate}).ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::AutogradCPU, K::Tracer, K::Conjugate}) == Log{"CPU"});
}

TEST_CASE("a kernel of the operator beats a fallback that falls through") {
  Recorder f;
  f.passes_at({K::ADInplaceOrView}).ends_at({K::CPU});
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"ADInplaceOrView", "CPU"});
}

TEST_CASE("a fallthrough of the operator beats a fallback that is a kernel") {
  Recorder f;
  f.fallback_at({K::Tracer}).falls_through_at({K::Tracer}).ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::Tracer}) == Log{"CPU"});
}

TEST_CASE("it is the operator's own: another operator is not concerned") {
  Recorder f;
  f.falls_through_at({K::Tracer}).ends_at({K::CPU});
  const OperatorHandle g = f.library().define("g(Tensor x) -> ()");
  f.library().impl("g", K::CPU, f.kernel("CPU"));
  CHECK_THROWS_AS(g.call({tensor_with({K::CPU, K::Tracer})}), NotImplementedError);
}

TEST_CASE("with everything masked the Undefined slot runs") {
  Recorder f;
  f.falls_through_at({K::CPU}).ends_at({K::Undefined});
  CHECK(f.call({K::CPU}) == Log{"Undefined"});
}

}  // namespace
}  // namespace sb
