// A thread adds keys to every call that it makes, for a scope. BackendSelect and ADInplaceOrView
// are included from the start.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("an included key takes part in calls as if an argument had it") {
  Recorder f;
  f.passes_at({K::TESTING_ONLY_GenericMode}).ends_at({K::CPU});
  {
    IncludeKeysGuard include(K::TESTING_ONLY_GenericMode);
    CHECK(f.call({K::CPU}) == Log{"TESTING_ONLY_GenericMode", "CPU"});
  }
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("an included backend key raises the backend of the call") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA});
  IncludeKeysGuard include(K::CUDA);
  CHECK(f.call({K::CPU}) == Log{"CUDA"});
}

TEST_CASE("by default BackendSelect and ADInplaceOrView are included") {
  Recorder f;
  f.passes_at({K::ADInplaceOrView, K::BackendSelect}).ends_at({K::CPU, K::Undefined});
  CHECK(f.call({K::CPU}) == Log{"ADInplaceOrView", "BackendSelect", "CPU"});
  CHECK(f.call({std::vector<Tensor>{}}) == Log{"ADInplaceOrView", "BackendSelect", "Undefined"});
}

TEST_CASE("a redispatch does not look at what is included") {
  Recorder f;
  f.passes_at({K::TESTING_ONLY_GenericMode}).ends_at({K::CPU});
  IncludeKeysGuard include(K::TESTING_ONLY_GenericMode);
  CHECK(f.redispatch(K::CPU) == Log{"CPU"});
}

}  // namespace
}  // namespace sb
