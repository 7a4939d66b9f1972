// A thread takes functionalities off every call that it makes, for a scope. Exclusion beats
// inclusion, and acts on all backends at once. The autocast keys are excluded from the start.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("an excluded key is passed over, though its kernel is there") {
  Recorder f;
  f.passes_at({K::AutogradCPU}).ends_at({K::CPU});
  {
    ExcludeKeysGuard exclude(K::AutogradCPU);
    CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
  }
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"AutogradCPU", "CPU"});
}

TEST_CASE("excluding autograd for one backend excludes it for every one") {
  Recorder f;
  f.passes_at({K::AutogradCPU}).ends_at({K::CPU});
  ExcludeKeysGuard exclude(K::AutogradCUDA);
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
}

TEST_CASE("excluding CUDA excludes every dense kernel, not the backend") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA, K::SparseCUDA, K::Undefined});
  ExcludeKeysGuard exclude(K::CUDA);
  CHECK(f.call({K::CPU}) == Log{"Undefined"});
  CHECK(f.call({K::CUDA, K::SparseCPU}) == Log{"SparseCUDA"});
}

TEST_CASE("exclusion beats inclusion, whichever guard is the inner one") {
  Recorder f;
  f.passes_at({K::Tracer}).ends_at({K::CPU});
  {
    IncludeKeysGuard include(K::Tracer);
    ExcludeKeysGuard exclude(K::Tracer);
    CHECK(f.call({K::CPU}) == Log{"CPU"});
  }
  ExcludeKeysGuard exclude(K::Tracer);
  IncludeKeysGuard include(K::Tracer);
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("autocast is excluded until it is turned on") {
  Recorder f;
  f.passes_at({K::AutocastCPU}).ends_at({K::CPU});
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"CPU"});
  UnexcludeKeysGuard autocast(K::AutocastCPU);
  CHECK(f.call(tensor_key_set(DeviceType::CPU)) == Log{"AutocastCPU", "CPU"});
}

TEST_CASE("what is excluded from the start are the autocast keys of all backends") {
  DispatchKeySet keys;
  for (int b = 0; b < kNumBackends; ++b) keys |= autocast_keys_of(static_cast<Backend>(b));
  CHECK(keys == kDefaultExcluded);
}

TEST_CASE("a redispatch does not look at what is excluded") {
  Recorder f;
  f.ends_at({K::CPU});
  ExcludeKeysGuard exclude(K::CPU);
  CHECK(f.redispatch(K::CPU) == Log{"CPU"});
}

}  // namespace
}  // namespace sb
