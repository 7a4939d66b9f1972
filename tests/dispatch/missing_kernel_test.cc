// Rule 8: with nothing to fill it a slot is missing, and a call that gets there fails with
// NotImplementedError. It does not go on to a lower key.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a call to a missing slot fails, though a lower key has a kernel") {
  Recorder f;
  f.ends_at({K::CPU});
  CHECK(f.rule(K::Tracer) == "missing");
  CHECK_THROWS_AS(f.call({K::Tracer, K::CPU}), NotImplementedError);
  CHECK(f.log().empty());
}

TEST_CASE("kernels of other backends do not help") {
  Recorder f;
  f.ends_at({K::CPU});
  CHECK_THROWS_AS(f.call({K::CPU, K::CUDA}), NotImplementedError);
}

TEST_CASE("the error names the operator, the key, the arguments and what is registered") {
  Recorder f;
  f.ends_at({K::CPU});
  CHECK_THROWS_WITH(
      f.call(tensor_key_set(DeviceType::Meta)),
      Catch::StartsWith("demo::f: no kernel for Meta (argument 0 'xs' is on meta); ") &&
          Catch::Contains("\nregistered: CPU (tests/dispatch/recording.cc:"));
}

}  // namespace
}  // namespace sb
